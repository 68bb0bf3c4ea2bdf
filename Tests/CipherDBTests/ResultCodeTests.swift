import CipherDB
import Testing

/// The names of SQLite's result codes.
@Suite struct ResultCodeTests {
    @Test func violatedConstraintHasItsName() throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            """
            PRAGMA foreign_keys = ON;
            CREATE TABLE p (id INTEGER PRIMARY KEY, u UNIQUE, n NOT NULL DEFAULT 1, c CHECK (c > 0));
            CREATE TABLE k (a TEXT PRIMARY KEY, r REFERENCES p (id)) WITHOUT ROWID;
            CREATE TRIGGER t BEFORE DELETE ON p BEGIN SELECT RAISE(ABORT, 'no'); END;
            INSERT INTO p (id, u) VALUES (1, 1); INSERT INTO k VALUES ('a', 1);
            """
        )
        let broken: [(SQL, ResultCode)] = [
            ("INSERT INTO p (u) VALUES (1)", .constraintUnique),
            ("INSERT INTO p (n) VALUES (NULL)", .constraintNotNull),
            ("INSERT INTO p (c) VALUES (-1)", .constraintCheck),
            ("INSERT INTO k VALUES ('a', 1)", .constraintPrimaryKey),
            ("INSERT INTO k VALUES ('b', 9)", .constraintForeignKey), ("DELETE FROM p", .constraintTrigger),
        ]
        for (sql, code) in broken {
            do {
                try database.executeUpdate(sql)
                Issue.record("a broken row was taken")
            } catch DatabaseError.busy, ResultCode.full {
                Issue.record("another code matches")
            } catch let error as DatabaseError where error.code == code {
                #expect(error.code.primary == .constraint && code.primary == .constraint)
                guard case DatabaseError.constraint = error as any Error else { throw error }
                guard case .constraint = error else { throw error }
                let isUnique = if case DatabaseError.constraintUnique = error as any Error { true } else { false }
                #expect(isUnique == (code == .constraintUnique))
            }
        }
    }

    @Test(arguments: [
        (ResultCode.busySnapshot, ResultCode.busy),
        (ResultCode.readOnlyMoved, ResultCode.readOnly),
        (ResultCode.inputOutputSync, ResultCode.inputOutput),
        (ResultCode.corruptVirtualTable, ResultCode.corrupt),
        (ResultCode.cannotOpenDirectory, ResultCode.cannotOpen),
        (ResultCode.lockedSharedCache, ResultCode.locked),
        (ResultCode.abortedByRollback, ResultCode.aborted),
    ])
    func extendedCodeHasItsPrimaryOne(code: ResultCode, primary: ResultCode) {
        #expect(code.primary == primary && code != primary)
        if case primary = code {} else { Issue.record("a pattern matches its extended codes") }
    }
}
