#ifndef CLANES_H
#define CLANES_H

#include <stdbool.h>
#include <stddef.h>

// HMAC-SHA512 of several messages side by side, by libipsec-mb (Debian: libipsec-mb-dev): where its header was there when this
// was compiled, its library is found now, and the processor suits it.

enum { clanes_most_messages = 32, clanes_block_size = 128, clanes_code_size = 64 };

// The bytes that clanes_begin needs, at an address that is a multiple of 64; 0 where there is no such library.
size_t clanes_memory_size(void);

// Prepares the memory, which is for one thread at a time.
bool clanes_begin(void *memory);

// Writes how the hashes of a key begin, twice the bytes of a code: of a block of the key xor 0x36, and of one xor 0x5c (RFC 2104,
// section 2).
void clanes_key(void *memory, const unsigned char *inner, const unsigned char *outer, unsigned char *key);

// Writes the codes, one behind the other, of messages of the same length, each `stride` bytes behind the one before.
bool clanes_run(
    void *memory, const unsigned char *key, const unsigned char *messages, size_t stride, size_t length, unsigned count,
    unsigned char *codes
);

#endif
