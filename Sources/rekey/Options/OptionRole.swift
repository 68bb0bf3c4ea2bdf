import ArgumentParser

/// Which of two things a group of options describes: the names of its options have a prefix for it.
protocol OptionRole {
    static var prefix: String { get }
}

extension OptionRole {
    static func name(_ name: String) -> NameSpecification { .customLong(prefix + name) }
}
