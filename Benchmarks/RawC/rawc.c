#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raw_statement {
    raw_database *database;
    sqlite3_stmt *handle;
};

void raw_check(sqlite3 *handle, int code) {
    if (code == SQLITE_OK) return;
    fprintf(stderr, "raw C: %s\n", handle == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
    exit(1);
}

void raw_execute(raw_database *database, const char *sql) {
    raw_check(database->handle, sqlite3_exec(database->handle, sql, NULL, NULL, NULL));
}

raw_database *raw_open(const char *path, const char *key, const char *settings) {
    raw_database *database = malloc(sizeof *database);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    raw_check(NULL, sqlite3_open_v2(path, &database->handle, flags, NULL));
    char pragma[200];
    snprintf(pragma, sizeof pragma, "PRAGMA key = \"%s\"", key);
    raw_execute(database, pragma);
    raw_execute(database, settings);
    raw_execute(database, "SELECT count(*) FROM sqlite_master");
    return database;
}

void raw_close(raw_database *database) {
    raw_check(database->handle, sqlite3_close(database->handle));
    free(database);
}

sqlite3_stmt *raw_compile(raw_database *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    raw_check(database->handle, sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL));
    return statement;
}

int raw_step(raw_database *database, sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) raw_check(database->handle, code);
    return code == SQLITE_ROW;
}

void raw_run(raw_database *database, sqlite3_stmt *statement) {
    raw_step(database, statement);
    raw_check(database->handle, sqlite3_reset(statement));
}

static void insert(raw_database *database, sqlite3_stmt *statement, const raw_row *row) {
    raw_check(database->handle, sqlite3_bind_int64(statement, 1, row->id));
    raw_check(database->handle, sqlite3_bind_text(statement, 2, row->name, sizeof row->name, SQLITE_STATIC));
    raw_check(database->handle, sqlite3_bind_double(statement, 3, row->value));
    raw_check(database->handle, sqlite3_bind_blob(statement, 4, row->data, sizeof row->data, SQLITE_STATIC));
    raw_run(database, statement);
}

int64_t raw_insert_alone(raw_database *database, const raw_row *rows, int64_t count) {
    sqlite3_stmt *statement = raw_compile(database, RAW_INSERT);
    for (int64_t index = 0; index < count; index++) insert(database, statement, &rows[index]);
    sqlite3_finalize(statement);
    return count;
}

int64_t raw_insert(raw_database *database, const raw_row *rows, int64_t count) {
    raw_execute(database, "BEGIN IMMEDIATE");
    raw_insert_alone(database, rows, count);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_fill(raw_database *database, int64_t count) {
    raw_execute(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    sqlite3_stmt *statement = raw_compile(database, RAW_INSERT);
    for (int64_t id = 0; id < count; id++) {
        raw_row row = {.id = id, .value = (double)id / 2};
        char name[sizeof row.name + 1];
        snprintf(name, sizeof name, "name %011d", (int)id);
        memcpy(row.name, name, sizeof row.name);
        memset(row.data, (int)(id & 255), sizeof row.data);
        insert(database, statement, &row);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

// The first bytes and the lengths: that the values were there.
static int64_t look(sqlite3_stmt *statement) {
    int64_t id = sqlite3_column_int64(statement, 0);
    const unsigned char *name = sqlite3_column_text(statement, 1);
    int name_size = sqlite3_column_bytes(statement, 1);
    double value = sqlite3_column_double(statement, 2);
    const unsigned char *data = sqlite3_column_blob(statement, 3);
    int data_size = sqlite3_column_bytes(statement, 3);
    return id + name[0] + name_size + (int64_t)value + data[0] + data_size;
}

int64_t raw_scan_borrowing(raw_database *database) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT id, name, value, data FROM t");
    int64_t sum = 0;
    while (raw_step(database, statement)) sum += look(statement);
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_count(raw_database *database) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT count(*) FROM t");
    int64_t count = raw_step(database, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return count;
}

unsigned char *raw_copy(const void *bytes, int size) {
    unsigned char *copied = malloc((size_t)size + 1);
    if (size > 0) memcpy(copied, bytes, (size_t)size);
    copied[size] = 0;
    return copied;
}

int64_t raw_scan_copying(raw_database *database) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT id, name, value, data FROM t");
    int64_t sum = 0;
    while (raw_step(database, statement)) {
        int64_t id = sqlite3_column_int64(statement, 0);
        const unsigned char *text = sqlite3_column_text(statement, 1);
        int name_size = sqlite3_column_bytes(statement, 1);
        unsigned char *name = raw_copy(text, name_size);
        double value = sqlite3_column_double(statement, 2);
        const void *blob = sqlite3_column_blob(statement, 3);
        int data_size = sqlite3_column_bytes(statement, 3);
        unsigned char *data = raw_copy(blob, data_size);
        sum += id + name[0] + name_size + (int64_t)value + data[0] + data_size;
        free(name);
        free(data);
    }
    sqlite3_finalize(statement);
    return sum;
}

raw_statement *raw_prepare(raw_database *database, const char *sql) {
    raw_statement *statement = malloc(sizeof *statement);
    statement->database = database;
    statement->handle = raw_compile(database, sql);
    return statement;
}

static int64_t point(raw_database *database, sqlite3_stmt *statement, int64_t id) {
    raw_check(database->handle, sqlite3_bind_int64(statement, 1, id));
    int64_t sum = raw_step(database, statement) ? look(statement) : 0;
    raw_check(database->handle, sqlite3_reset(statement));
    return sum;
}

int64_t raw_point(raw_statement *statement, int64_t id) {
    return point(statement->database, statement->handle, id);
}

void raw_insert_row(raw_statement *statement, const raw_row *row) {
    insert(statement->database, statement->handle, row);
}

int64_t raw_points_alone(raw_database *database, const int64_t *ids, int64_t count) {
    sqlite3_stmt *statement = raw_compile(database, RAW_POINT);
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) sum += point(database, statement, ids[index]);
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_points(raw_database *database, const int64_t *ids, int64_t count) {
    raw_execute(database, "BEGIN");
    int64_t sum = raw_points_alone(database, ids, count);
    raw_execute(database, "COMMIT");
    return sum;
}

int64_t raw_ranges(raw_database *database, const int64_t *firsts, int64_t count, int64_t length) {
    raw_execute(database, "BEGIN");
    sqlite3_stmt *statement = raw_compile(database, "SELECT id, name, value, data FROM t WHERE id >= ? AND id < ?");
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        raw_check(database->handle, sqlite3_bind_int64(statement, 1, firsts[index]));
        raw_check(database->handle, sqlite3_bind_int64(statement, 2, firsts[index] + length));
        while (raw_step(database, statement)) sum += look(statement);
        raw_check(database->handle, sqlite3_reset(statement));
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return sum;
}

int64_t raw_small(raw_database *database, int64_t count) {
    sqlite3_stmt *statement = raw_compile(database, "SELECT ? + 1");
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        raw_check(database->handle, sqlite3_bind_int64(statement, 1, index));
        if (raw_step(database, statement)) sum += sqlite3_column_int64(statement, 0);
        raw_check(database->handle, sqlite3_reset(statement));
    }
    sqlite3_finalize(statement);
    return sum;
}
