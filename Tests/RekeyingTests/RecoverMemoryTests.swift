import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// An index of a saved file may not take all of the memory. In a process of its own: what other tests take would count, too.
@Suite(.atTheEnds) struct RecoverMemoryTests {
    @Test func indexOverItsLimitIsNamedAndRowsAreSaved() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let (path, saved, key) = (directory.file("test.db"), directory.file("saved.db"), try DatabaseKey.random())
            let queue = try DatabaseQueue(path: path, key: key)
            try queue.inDatabase {
                try $0.executeStatements(
                    """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a);
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
                    INSERT INTO t (a) SELECT hex(randomblob(4000)) FROM n; ANALYZE;
                    """
                )
            }
            try queue.close()
            var file = DatabaseFile(path: path)
            file.configuration.statementMemoryLimit = 0
            let done = try file.recover(key: key, to: saved)
            #expect(done.failures.map(\.name) == ["i"])
            #expect(done.failures.first?.reason.contains("statementMemoryLimit") == true, "\(done.failures)")
            let database = try DatabaseQueue(path: saved, key: key)
            #expect(try database.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 6000)
        }
    }
}
