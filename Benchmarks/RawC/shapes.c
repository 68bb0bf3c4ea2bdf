#include "internal.h"

#include <stdlib.h>
#include <string.h>

int64_t raw_insert_blobs(raw_database *database, const void *blob, int64_t size, int64_t count) {
    raw_execute(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = raw_compile(database, "INSERT INTO b (data) VALUES (?)");
    for (int64_t index = 0; index < count; index++) {
        raw_check(database->handle, sqlite3_bind_blob(statement, 1, blob, (int)size, SQLITE_STATIC));
        raw_run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_read_blobs(raw_database *database) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT data FROM b");
    int64_t sum = 0;
    while (raw_step(database, statement)) {
        const unsigned char *data = sqlite3_column_blob(statement, 0);
        sum += data[0] + sqlite3_column_bytes(statement, 0);
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_insert_wide(raw_database *database, int columns, int64_t count) {
    char sql[1000] = "INSERT INTO w VALUES (?";
    for (int column = 1; column < columns; column++) strcat(sql, ", ?");
    strcat(sql, ")");
    raw_execute(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = raw_compile(database, sql);
    for (int64_t index = 0; index < count; index++) {
        for (int column = 0; column < columns; column++) {
            raw_check(database->handle, sqlite3_bind_int64(statement, column + 1, index + column));
        }
        raw_run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_scan_wide(raw_database *database, int columns) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT * FROM w");
    int64_t sum = 0;
    while (raw_step(database, statement)) {
        for (int column = 0; column < columns; column++) sum += sqlite3_column_int64(statement, column);
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_insert_texts(raw_database *database, const char *text, int64_t size, int64_t count) {
    raw_execute(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = raw_compile(database, "INSERT INTO x (a, b, c, d) VALUES (?, ?, ?, ?)");
    for (int64_t index = 0; index < count; index++) {
        for (int column = 1; column <= 4; column++) {
            raw_check(database->handle, sqlite3_bind_text(statement, column, text, (int)size, SQLITE_STATIC));
        }
        raw_run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_scan_texts(raw_database *database) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT a, b, c, d FROM x");
    int64_t sum = 0;
    while (raw_step(database, statement)) {
        for (int column = 0; column < 4; column++) {
            const unsigned char *text = sqlite3_column_text(statement, column);
            int size = sqlite3_column_bytes(statement, column);
            unsigned char *copied = raw_copy(text, size);
            sum += copied[0] + size;
            free(copied);
        }
    }
    sqlite3_finalize(statement);
    return sum;
}
