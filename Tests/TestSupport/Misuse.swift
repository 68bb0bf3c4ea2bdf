import CipherDB

/// Whether `body` throws that it is a misuse.
package func isMisuse(_ body: () throws -> Void) -> Bool {
    do {
        try body()
        return false
    } catch {
        return (error as? DatabaseError)?.code == .misuse
    }
}
