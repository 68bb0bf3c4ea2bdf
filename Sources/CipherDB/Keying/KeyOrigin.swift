/// Where the key of an open database comes from.
enum KeyOrigin {
    case program
    /// A change of the key past the keyring would make the keyring useless.
    case keyring
    /// The keyring has both keys now.
    case rotation
}
