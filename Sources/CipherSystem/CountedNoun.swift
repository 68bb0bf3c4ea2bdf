extension BinaryInteger {
    /// The number with what it counts, for people: `1 page`, `2 pages`.
    ///
    /// - Parameter noun: One of it.
    package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
