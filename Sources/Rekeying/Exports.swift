@_exported public import CipherBackup
@_exported public import CipherSalvage
// The kinds of page that `map` answers, and what `recover` says of tables.
@_exported public import SQLiteFormat
