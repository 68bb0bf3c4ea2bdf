#ifndef CSQLCIPHER_TOKENIZER_H
#define CSQLCIPHER_TOKENIZER_H

// What FTS3 and FTS4 expect of a tokenizer (sqlite.org/fts3.html, section 8.1, "Custom (Application Defined) Tokenizers").
// SQLite does not install the header that declares it. The members' order and types are the binary interface.

struct sqlite3_tokenizer;
struct sqlite3_tokenizer_cursor;

typedef struct sqlite3_tokenizer_module {
    int iVersion;
    int (*xCreate)(int count, const char *const *arguments, struct sqlite3_tokenizer **result);
    int (*xDestroy)(struct sqlite3_tokenizer *tokenizer);
    int (*xOpen)(struct sqlite3_tokenizer *tokenizer, const char *input, int bytes,
                 struct sqlite3_tokenizer_cursor **result);
    int (*xClose)(struct sqlite3_tokenizer_cursor *cursor);
    int (*xNext)(struct sqlite3_tokenizer_cursor *cursor, const char **token, int *bytes, int *start, int *end,
                 int *position);
    int (*xLanguageid)(struct sqlite3_tokenizer_cursor *cursor, int language);
} sqlite3_tokenizer_module;

// The engine fills in the first member of each.
typedef struct sqlite3_tokenizer {
    const sqlite3_tokenizer_module *pModule;
} sqlite3_tokenizer;

typedef struct sqlite3_tokenizer_cursor {
    sqlite3_tokenizer *pTokenizer;
} sqlite3_tokenizer_cursor;

// A module with what its callbacks work for: xCreate is not told for which module it is called, xOpen is.
typedef struct csqlcipher_tokenizer_module {
    sqlite3_tokenizer_module base;
    void *context;
} csqlcipher_tokenizer_module;

// A tokenizer with what its table's declaration gave it.
typedef struct csqlcipher_tokenizer {
    sqlite3_tokenizer base;
    void *context;
} csqlcipher_tokenizer;

// A cursor with the tokens it stands on.
typedef struct csqlcipher_tokenizer_cursor {
    sqlite3_tokenizer_cursor base;
    void *context;
} csqlcipher_tokenizer_cursor;

// fts3_tokenizer() takes a pointer, and is off until a connection turns it on; then it takes bound values only.
static inline int csqlcipher_enable_fts3_tokenizer(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, on, (int *)0);
}

// Since SQLite 3.20. Weak: a program that was built with a newer header may have an older engine to load.
extern int sqlite3_bind_pointer(sqlite3_stmt *, int, void *, const char *, void (*)(void *)) __attribute__((weak));

// The interface of FTS5 on this connection; null where the engine, such as SQLite 3.15, cannot hand it over.
static inline fts5_api *csqlcipher_fts5(sqlite3 *db) {
    fts5_api *api = 0;
    sqlite3_stmt *statement = 0;
    if (!sqlite3_bind_pointer) return 0;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, 0) != SQLITE_OK) return 0;
    sqlite3_bind_pointer(statement, 1, (void *)&api, "fts5_api_ptr", 0);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
    return api;
}

#endif
