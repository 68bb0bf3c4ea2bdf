"""SQLite3 Multiple Ciphers for engines.py, in a process of its own: Python may have loaded another SQLite before."""
import json
import shutil
import sys

import apsw


def run(request):
    connection = apsw.Connection(request["file"])
    try:
        for statement in request["statements"]:
            connection.execute(statement).fetchall()
        rows = [str(row[0]) for statement in request["then"] for row in connection.execute(statement)]
        if request["copy"]:
            for side in ("", "-wal", "-shm"):
                shutil.copyfile(request["file"] + side, request["copy"] + side)
        return {"rows": rows}
    except (apsw.Error, OSError) as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}
    finally:
        connection.close()


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
