// For dladdr; it must stand before the first system header.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#ifndef CSQLCIPHER_SHIM_H
#define CSQLCIPHER_SHIM_H

// Without it the header does not declare sqlite3_key_v2, and no pkg-config file defines it.
#ifndef SQLITE_HAS_CODEC
#define SQLITE_HAS_CODEC 1
#endif

// Never <sqlite3.h>: where libsqlite3-dev is installed that is another engine's header.
// Homebrew's pkg-config file names the inner directory only; there the codec check below tells the two apart.
#if __has_include(<sqlcipher/sqlite3.h>)
#include <sqlcipher/sqlite3.h>
#elif __has_include(<SQLCipher/sqlite3.h>)
// SQLCipher.swift's is a module, which does not see what is defined above.
#include <SQLCipher/sqlite3.h>
int sqlite3_key_v2(sqlite3 *db, const char *name, const void *key, int count);
int sqlite3_rekey_v2(sqlite3 *db, const char *name, const void *key, int count);
#elif defined(__APPLE__)
#include <sqlite3.h>
#else
#error "SQLCipher's header <sqlcipher/sqlite3.h> is missing: install libsqlcipher-dev"
#endif

// SQLITE_TRANSIENT is a cast that Swift does not import.
static inline sqlite3_destructor_type csqlcipher_transient(void) { return SQLITE_TRANSIENT; }

static inline int csqlcipher_same(const void *left, const void *right, unsigned long count) {
    return __builtin_memcmp(left, right, count) == 0;
}

// Eight at a time.
static inline int csqlcipher_is_ascii(const unsigned char *bytes, unsigned long count) {
    unsigned long long all = 0, word;
    unsigned long read = 0;
    for (; read + sizeof word <= count; read += sizeof word) {
        __builtin_memcpy(&word, bytes + read, sizeof word);
        all |= word;
    }
    for (; read < count; read++) all |= bytes[read];
    return (all & 0x8080808080808080ULL) == 0;
}

// A compile error here means that the header found is plain SQLite's: it does not declare the key functions.
static inline int csqlcipher_key(sqlite3 *db, const void *key, int count) {
    return sqlite3_key_v2(db, "main", key, count);
}
static inline int csqlcipher_rekey(sqlite3 *db, const void *key, int count) {
    return sqlite3_rekey_v2(db, "main", key, count);
}

// Of SQLite 3.16, 3.26 and 3.31; an older engine returns an error for them.
#ifndef SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE
#define SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE 1006
#endif
#ifndef SQLITE_DBCONFIG_DEFENSIVE
#define SQLITE_DBCONFIG_DEFENSIVE 1010
#endif
#ifndef SQLITE_DBCONFIG_TRUSTED_SCHEMA
#define SQLITE_DBCONFIG_TRUSTED_SCHEMA 1017
#endif
// Of SQLite 3.30 and 3.31; an older engine ignores them.
#ifndef SQLITE_DIRECTONLY
#define SQLITE_DIRECTONLY 0x80000
#endif
#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0x200000
#endif

// Variadic functions are not imported by Swift.
static inline int csqlcipher_configure(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

// Lets connections take memory for each page that they read, and not for 20 pages at once. Fails where the engine runs already.
static inline int csqlcipher_take_single_pages(void) { return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0); }

// The methods of an open file that CheckpointGuard puts in the place of `stock`. The engine knows the first member only.
struct csqlcipher_guarded_methods {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *stock;
    // Those of the WAL when the checkpoint that runs had not yet read its header.
    sqlite3_uint64 salts;
    // Whether the connection holds the lock of checkpoints, and that of the writer.
    int checkpoints;
    int writes;
};

// What other processes write to at the same time is read at once.
static inline sqlite3_uint64 csqlcipher_read_shared(const void *address) {
    return __atomic_load_n((const sqlite3_uint64 *)address, __ATOMIC_ACQUIRE);
}

#include "provider.h"
#include "tokenizer.h"

#include <dlfcn.h>

// Where the opening and where the keying function come from. With plain libsqlite3 loaded first in the process
// these differ, and a key call would run into a connection of another engine.
static inline int csqlcipher_is_one_library(void) {
    Dl_info opening, keying;
    if (dladdr((const void *)&sqlite3_open_v2, &opening) == 0) return 0;
    if (dladdr((const void *)&sqlite3_key_v2, &keying) == 0) return 0;
    return opening.dli_fbase == keying.dli_fbase;
}

#endif
