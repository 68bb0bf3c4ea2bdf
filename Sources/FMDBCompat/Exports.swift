// Code that moves does so bit by bit, and `executeUpdate(withFormat:)` takes CipherDB's SQL.
@_exported public import CipherDB
