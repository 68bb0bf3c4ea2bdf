#ifndef RAWC_H
#define RAWC_H

#include <stdint.h>

// The fair minimum: what a program in C does that keeps a prepared statement, copies no value that it need not copy, and looks
// at every code. Each call returns a sum of what it read or wrote: both sides must have done the same. A failure ends the program.

typedef struct raw_database raw_database;

// Opens and keys; `settings` are pragmas that follow.
raw_database *raw_open(const char *path, const char *key, const char *settings);
void raw_close(raw_database *database);
void raw_execute(raw_database *database, const char *sql);

// A row of t (id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB).
typedef struct raw_row {
    int64_t id;
    char name[16];
    double value;
    unsigned char data[32];
} raw_row;

#define RAW_INSERT "INSERT INTO t VALUES (?, ?, ?, ?)"
#define RAW_POINT "SELECT id, name, value, data FROM t WHERE id = ?"

// Fills t with rows, without a journal.
int64_t raw_fill(raw_database *database, int64_t count);
// In one transaction.
int64_t raw_insert(raw_database *database, const raw_row *rows, int64_t count);
// Each in a transaction of its own.
int64_t raw_insert_alone(raw_database *database, const raw_row *rows, int64_t count);
// All rows, looked at where the engine has them.
int64_t raw_scan_borrowing(raw_database *database);
// count(*), which reads every page of the table.
int64_t raw_count(raw_database *database);
// All rows, with a copy of each text and blob, freed with its row.
int64_t raw_scan_copying(raw_database *database);
// The rows with these keys, one query each, in one transaction.
int64_t raw_points(raw_database *database, const int64_t *ids, int64_t count);
// A statement that is kept, RAW_POINT or RAW_INSERT, and one use of it.
typedef struct raw_statement raw_statement;
raw_statement *raw_prepare(raw_database *database, const char *sql);
int64_t raw_point(raw_statement *statement, int64_t id);
void raw_insert_row(raw_statement *statement, const raw_row *row);
// As raw_points, each in a transaction of its own.
int64_t raw_points_alone(raw_database *database, const int64_t *ids, int64_t count);
// One query for each of `firsts`, for it and the rows behind it, in one transaction.
int64_t raw_ranges(raw_database *database, const int64_t *firsts, int64_t count, int64_t length);

// b (id INTEGER PRIMARY KEY, data BLOB), in one transaction.
int64_t raw_insert_blobs(raw_database *database, const void *blob, int64_t size, int64_t count);
int64_t raw_read_blobs(raw_database *database);
// w, of `columns` integers, in one transaction.
int64_t raw_insert_wide(raw_database *database, int columns, int64_t count);
int64_t raw_scan_wide(raw_database *database, int columns);
// x (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d TEXT), in one transaction.
int64_t raw_insert_texts(raw_database *database, const char *text, int64_t size, int64_t count);
int64_t raw_scan_texts(raw_database *database);
// A query that reads no page, run again and again.
int64_t raw_small(raw_database *database, int64_t count);

#endif
