package import SQLiteFormat

/// A key that is right for a file, with what of the file is damaged all the same.
package struct Authentication {
    package enum Damage {
        case none
        /// Without page 1 the engine cannot open the file.
        case firstPage
        /// The plaintext header contradicts the format, in these words: the engine must not write to the file.
        case header(String)
        /// The key is right for the file, and for no page of the journal or WAL that the engine would copy into it.
        case sideFileUnderOtherKey(SideFile)
        /// What in the journal or WAL, on which the engine would act, differs from what was written, a sentence each.
        case sideFiles([String])
    }

    package let verifiedKey: VerifiedKey
    package let damage: Damage
}
