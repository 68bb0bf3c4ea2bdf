#ifndef CSQLCIPHER_PROVIDER_H
#define CSQLCIPHER_PROVIDER_H

#include <dlfcn.h>
#include <stddef.h>

// The interface by which SQLCipher calls its cryptography (struct sqlcipher_provider), as published in the sources of 3.4.1, 4.4 to
// 4.6 and 4.7 to 4.19. No installed header declares it. A provider is an array of functions; their order differs by version.

typedef int (*csqlcipher_hmac)(void *context, int algorithm, const unsigned char *key, int key_size, const unsigned char *first,
                               int first_size, const unsigned char *second, int second_size, unsigned char *result);
// In 3.4.1: HMAC-SHA1.
typedef int (*csqlcipher_hmac_sha1)(void *context, const unsigned char *key, int key_size, const unsigned char *first,
                                    int first_size, const unsigned char *second, int second_size, unsigned char *result);
// Mode 1 encrypts, 0 decrypts.
typedef int (*csqlcipher_cipher)(void *context, int mode, const unsigned char *key, int key_size, const unsigned char *iv,
                                 const unsigned char *input, int size, unsigned char *output);
typedef int (*csqlcipher_context_function)(void **context);
typedef const char *(*csqlcipher_name)(void *context);
typedef int (*csqlcipher_size)(void *context);

typedef int (*csqlcipher_setup)(void *provider);
typedef void *(*csqlcipher_get_provider)(void);
typedef void *(*csqlcipher_malloc)(sqlite3_uint64 size);

typedef int (*csqlcipher_register_provider)(void *provider);

// What CipherDB's functions keep for a connection.
struct csqlcipher_provider_context {
    // The EVP_CIPHER of 3.4.1's own context, which is its only member: that engine's other functions look for it here.
    const void *cipher;
    // The engine's own context; null in 4.x.
    void *stock;
    // A reference to KeptContexts.
    void *contexts;
};

// A symbol of the library that has sqlite3_key_v2; null where the library does not export it.
static inline void *csqlcipher_symbol(const char *name) {
    Dl_info keying, found;
    if (dladdr((const void *)&sqlite3_key_v2, &keying) == 0) return 0;
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address || dladdr(address, &found) == 0 || found.dli_fbase != keying.dli_fbase) return 0;
    return address;
}

// Whether the address lies in the library that has sqlite3_key_v2.
static inline int csqlcipher_is_of_engine(const void *address) {
    Dl_info keying, found;
    if (dladdr((const void *)&sqlite3_key_v2, &keying) == 0 || dladdr(address, &found) == 0) return 0;
    return found.dli_fbase == keying.dli_fbase;
}

#endif
