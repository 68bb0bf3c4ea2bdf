// swift-tools-version: 6.1
import PackageDescription

// On its own, so that the benchmarks run where GRDB is not to be had. GRDB links a library of the name of SQLite's:
// Benchmarks/bench.sh lets the loader find SQLCipher under it.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"), .package(path: "../Turns")],
    targets: [
        .executableTarget(name: "GRDBBench", dependencies: [.product(name: "GRDB", package: "GRDB.swift"), "Turns"]),
        .executableTarget(name: "GRDBFile", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
    ],
    swiftLanguageModes: [.v6]
)
