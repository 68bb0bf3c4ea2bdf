#ifndef RAWC_INTERNAL_H
#define RAWC_INTERNAL_H

#include "rawc.h"

#include <sqlcipher/sqlite3.h>

struct raw_database {
    sqlite3 *handle;
};

// Ends the program unless the code is SQLITE_OK.
void raw_check(sqlite3 *handle, int code);
sqlite3_stmt *raw_compile(raw_database *database, const char *sql);
// True for a row, false at the end.
int raw_step(raw_database *database, sqlite3_stmt *statement);
void raw_run(raw_database *database, sqlite3_stmt *statement);
unsigned char *raw_copy(const void *bytes, int size);

#endif
