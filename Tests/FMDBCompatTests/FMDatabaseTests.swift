import FMDBCompat
import Testing

@Suite struct FMDatabaseTests {
    @Test func aDatabaseInMemoryOpens() {
        let database = FMDatabase(path: nil)
        #expect(database.open() && database.goodConnection)
    }
}
