#include "rawc.h"

#include <sqlcipher/sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raw_database {
    sqlite3 *handle;
};

static void check(sqlite3 *handle, int code) {
    if (code == SQLITE_OK) return;
    fprintf(stderr, "raw C: %s\n", handle == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
    exit(1);
}

void raw_execute(raw_database *database, const char *sql) {
    check(database->handle, sqlite3_exec(database->handle, sql, NULL, NULL, NULL));
}

// Exported by the engine, and in no header: struct sqlcipher_provider has 17 pointers up to 4.6, and 18 since 4.7.
extern int sqlcipher_register_provider(void *);
extern int sqlcipher_openssl_setup(void *);
extern void *sqlcipher_get_provider(void);
extern void *sqlcipher_malloc(sqlite3_uint64);

enum { members = 18, provider_size = members * sizeof(void *) };

// Keys with the engine's own cryptography, where CipherDB has registered its own.
static void set_key(raw_database *database, const char *pragma) {
    void *current = sqlcipher_get_provider();
    if (!current) {
        raw_execute(database, pragma);
    } else if (sqlite3_libversion_number() < 3049000) {
        // Up to 4.6 a key takes a copy of the provider, and another one would replace it for good.
        void *saved[members - 1];
        memcpy(saved, current, sizeof saved);
        sqlcipher_openssl_setup(current);
        raw_execute(database, pragma);
        memcpy(current, saved, sizeof saved);
    } else {
        static void *stock;
        if (!stock) {
            stock = sqlcipher_malloc(provider_size);
            sqlcipher_openssl_setup(stock);
        }
        sqlcipher_register_provider(stock);
        raw_execute(database, pragma);
        sqlcipher_register_provider(current);
    }
}

raw_database *raw_open(const char *path, const char *key, const char *settings) {
    raw_database *database = malloc(sizeof *database);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(NULL, sqlite3_open_v2(path, &database->handle, flags, NULL));
    char pragma[200];
    snprintf(pragma, sizeof pragma, "PRAGMA key = \"%s\"", key);
    set_key(database, pragma);
    raw_execute(database, settings);
    raw_execute(database, "SELECT count(*) FROM sqlite_master");
    return database;
}

void raw_close(raw_database *database) {
    check(database->handle, sqlite3_close(database->handle));
    free(database);
}

static sqlite3_stmt *prepare(raw_database *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(database->handle, sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL));
    return statement;
}

// True for a row, false at the end.
static int step(raw_database *database, sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(database->handle, code);
    return code == SQLITE_ROW;
}

static void run(raw_database *database, sqlite3_stmt *statement) {
    step(database, statement);
    check(database->handle, sqlite3_reset(statement));
}

static void insert(raw_database *database, sqlite3_stmt *statement, const raw_row *row) {
    check(database->handle, sqlite3_bind_int64(statement, 1, row->id));
    check(database->handle, sqlite3_bind_text(statement, 2, row->name, sizeof row->name, SQLITE_STATIC));
    check(database->handle, sqlite3_bind_double(statement, 3, row->value));
    check(database->handle, sqlite3_bind_blob(statement, 4, row->data, sizeof row->data, SQLITE_STATIC));
    run(database, statement);
}

int64_t raw_insert_alone(raw_database *database, const raw_row *rows, int64_t count) {
    sqlite3_stmt *statement = prepare(database, "INSERT INTO t VALUES (?, ?, ?, ?)");
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
    sqlite3_stmt *statement = prepare(database, "SELECT id, name, value, data FROM t");
    int64_t sum = 0;
    while (step(database, statement)) sum += look(statement);
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_count(raw_database *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT count(*) FROM t");
    int64_t count = step(database, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return count;
}

static unsigned char *copy(const void *bytes, int size) {
    unsigned char *copied = malloc((size_t)size + 1);
    if (size > 0) memcpy(copied, bytes, (size_t)size);
    copied[size] = 0;
    return copied;
}

int64_t raw_scan_copying(raw_database *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT id, name, value, data FROM t");
    int64_t sum = 0;
    while (step(database, statement)) {
        int64_t id = sqlite3_column_int64(statement, 0);
        const unsigned char *text = sqlite3_column_text(statement, 1);
        int name_size = sqlite3_column_bytes(statement, 1);
        unsigned char *name = copy(text, name_size);
        double value = sqlite3_column_double(statement, 2);
        const void *blob = sqlite3_column_blob(statement, 3);
        int data_size = sqlite3_column_bytes(statement, 3);
        unsigned char *data = copy(blob, data_size);
        sum += id + name[0] + name_size + (int64_t)value + data[0] + data_size;
        free(name);
        free(data);
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_points_alone(raw_database *database, const int64_t *ids, int64_t count) {
    sqlite3_stmt *statement = prepare(database, "SELECT id, name, value, data FROM t WHERE id = ?");
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        check(database->handle, sqlite3_bind_int64(statement, 1, ids[index]));
        if (step(database, statement)) sum += look(statement);
        check(database->handle, sqlite3_reset(statement));
    }
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
    sqlite3_stmt *statement = prepare(database, "SELECT id, name, value, data FROM t WHERE id >= ? AND id < ?");
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        check(database->handle, sqlite3_bind_int64(statement, 1, firsts[index]));
        check(database->handle, sqlite3_bind_int64(statement, 2, firsts[index] + length));
        while (step(database, statement)) sum += look(statement);
        check(database->handle, sqlite3_reset(statement));
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return sum;
}

int64_t raw_insert_blobs(raw_database *database, const void *blob, int64_t size, int64_t count) {
    raw_execute(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare(database, "INSERT INTO b (data) VALUES (?)");
    for (int64_t index = 0; index < count; index++) {
        check(database->handle, sqlite3_bind_blob(statement, 1, blob, (int)size, SQLITE_STATIC));
        run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_read_blobs(raw_database *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT data FROM b");
    int64_t sum = 0;
    while (step(database, statement)) {
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
    sqlite3_stmt *statement = prepare(database, sql);
    for (int64_t index = 0; index < count; index++) {
        for (int column = 0; column < columns; column++) {
            check(database->handle, sqlite3_bind_int64(statement, column + 1, index + column));
        }
        run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_scan_wide(raw_database *database, int columns) {
    sqlite3_stmt *statement = prepare(database, "SELECT * FROM w");
    int64_t sum = 0;
    while (step(database, statement)) {
        for (int column = 0; column < columns; column++) sum += sqlite3_column_int64(statement, column);
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_insert_texts(raw_database *database, const char *text, int64_t size, int64_t count) {
    raw_execute(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = prepare(database, "INSERT INTO x (a, b, c, d) VALUES (?, ?, ?, ?)");
    for (int64_t index = 0; index < count; index++) {
        for (int column = 1; column <= 4; column++) {
            check(database->handle, sqlite3_bind_text(statement, column, text, (int)size, SQLITE_STATIC));
        }
        run(database, statement);
    }
    sqlite3_finalize(statement);
    raw_execute(database, "COMMIT");
    return count;
}

int64_t raw_scan_texts(raw_database *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT a, b, c, d FROM x");
    int64_t sum = 0;
    while (step(database, statement)) {
        for (int column = 0; column < 4; column++) {
            const unsigned char *text = sqlite3_column_text(statement, column);
            int size = sqlite3_column_bytes(statement, column);
            unsigned char *copied = copy(text, size);
            sum += copied[0] + size;
            free(copied);
        }
    }
    sqlite3_finalize(statement);
    return sum;
}

int64_t raw_small(raw_database *database, int64_t count) {
    sqlite3_stmt *statement = prepare(database, "SELECT ? + 1");
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        check(database->handle, sqlite3_bind_int64(statement, 1, index));
        if (step(database, statement)) sum += sqlite3_column_int64(statement, 0);
        check(database->handle, sqlite3_reset(statement));
    }
    sqlite3_finalize(statement);
    return sum;
}
