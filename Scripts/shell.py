#!/usr/bin/env python3
"""What the tests need of the `sqlcipher` shell, for an engine that comes without one: SQL from the command line or standard input,
rows with `|` between their columns, `.bail on` and `.shell COMMAND`.

usage: Scripts/shell.py LIBRARY [-OPTION…] FILE [SQL]
"""
import ctypes, subprocess, sys

ROW, DONE = 100, 101


def fail(engine, database):
    engine.sqlite3_errmsg.restype = ctypes.c_char_p
    sys.stdout.flush()
    sys.exit("Error: " + engine.sqlite3_errmsg(database).decode(errors="replace"))


def run(engine, database, sql):
    """Runs the statements of `sql`, and prints their rows."""
    statement, rest = ctypes.c_void_p(), ctypes.c_char_p(sql)
    while rest.value and rest.value.strip():
        if engine.sqlite3_prepare_v2(database, rest, -1, ctypes.byref(statement), ctypes.byref(rest)):
            fail(engine, database)
        if not statement.value:
            continue
        while (code := engine.sqlite3_step(statement)) == ROW:
            texts = (engine.sqlite3_column_text(statement, column) for column in range(engine.sqlite3_column_count(statement)))
            sys.stdout.buffer.write(b"|".join(text or b"" for text in texts) + b"\n")
            sys.stdout.flush()
        # Finalising may repeat the error; the message is looked at before.
        if code != DONE:
            fail(engine, database)
        engine.sqlite3_finalize(statement)


def main(library, arguments):
    engine = ctypes.CDLL(library)
    engine.sqlite3_column_text.restype = ctypes.c_char_p
    words = [word for word in arguments if not word.startswith("-")]
    database = ctypes.c_void_p()
    if engine.sqlite3_open(words[0].encode(errors="surrogateescape"), ctypes.byref(database)):
        fail(engine, database)
    if len(words) > 1:
        return run(engine, database, words[1].encode(errors="surrogateescape"))
    pending = b""
    for line in sys.stdin.buffer:
        if not pending.strip() and line.startswith(b"."):
            if line.startswith(b".shell "):
                subprocess.run(line[len(b".shell "):], shell=True, check=True)
            continue
        pending += line
        if engine.sqlite3_complete(ctypes.c_char_p(pending)):
            run(engine, database, pending)
            pending = b""
    run(engine, database, pending)
    engine.sqlite3_close(database)


main(sys.argv[1], sys.argv[2:])
