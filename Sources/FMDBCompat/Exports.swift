// As FMDB's own module does. Not CipherDB, whose Statement, ResultSet or Configuration would be ambiguous beside another module's.
@_exported public import Foundation
