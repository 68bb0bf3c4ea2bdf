// One import for users: keys, formats and their errors are part of every program that opens a database.
@_exported public import CipherKeys
