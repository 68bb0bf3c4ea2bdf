// One import for users: keys, formats and their errors are part of every program that opens a database, and paths may be bytes.
@_exported public import CipherKeys
@_exported public import CipherSystem
