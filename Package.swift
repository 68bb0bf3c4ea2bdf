// swift-tools-version: 6.1
import PackageDescription

// By Scripts/fuzz.sh only: it needs libFuzzer.
let fuzzes = Context.environment["CIPHERDB_FUZZ"] != nil

let package = Package(
    name: "CipherDB",
    // What Synchronization's atomics need. Linux and macOS are tested; the others need a SQLCipher of their own to link.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CipherDB", targets: ["CipherDB"]),
        .library(name: "FMDBCompat", targets: ["FMDBCompat"]),
        .library(name: "Rekeying", targets: ["Rekeying"]),
        .executable(name: "rekey", targets: ["rekey"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0")
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]
        ),
        .target(name: "CSystem"),
        .target(name: "CLanes"),
        .target(name: "SystemSupport", dependencies: ["CSystem"]),
        .target(name: "CipherKeys", dependencies: ["COpenSSL", "CSystem", "SystemSupport"], path: "Keys"),
        .target(name: "SQLiteFormat", dependencies: ["SystemSupport"]),
        .target(
            name: "CipherPages",
            dependencies: ["CLanes", "COpenSSL", "CipherKeys", "SQLiteFormat", "SystemSupport"]
        ),
        .target(
            name: "CipherDB",
            dependencies: ["CSQLCipher", "CipherKeys", "CipherPages", "SQLiteFormat", "SystemSupport"]
        ),
        .target(name: "FMDBCompat", dependencies: ["CipherDB", "CipherKeys", "SystemSupport"]),
        .target(name: "Salvage", dependencies: ["CipherDB", "CipherPages", "SQLiteFormat"]),
        .target(
            name: "Rekeying",
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "SQLiteFormat", "Salvage", "SystemSupport"]
        ),
        .executableTarget(
            name: "rekey",
            dependencies: [
                "CipherDB", "CipherKeys", "Rekeying", "SystemSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "PackageSearch",
            dependencies: ["CipherDB", "Rekeying"],
            path: "Examples/PackageSearch",
            exclude: ["sample.status"]
        ),
        .executableTarget(
            name: "vault",
            dependencies: [
                "CipherDB",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/Vault"
        ),
        .target(
            name: "TestSupport",
            dependencies: ["CipherDB", "CipherKeys", "SystemSupport"],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "CipherKeysTests",
            dependencies: ["CipherKeys", "SystemSupport", "TestSupport"],
            resources: [.copy("Vectors")]
        ),
        .testTarget(
            name: "CipherPagesTests",
            dependencies: ["CipherKeys", "CipherPages", "SQLiteFormat", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "CipherDBTests",
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "SQLiteFormat", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "FMDBCompatTests",
            dependencies: ["CipherKeys", "FMDBCompat", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "RekeyingTests",
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "Rekeying", "SystemSupport", "TestSupport"]
        ),
        .testTarget(
            name: "RekeyCommandTests",
            dependencies: [
                "CipherDB", "CipherKeys", "Rekeying", "SystemSupport", "rekey", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Faults"]
        ),
        .testTarget(
            name: "SnippetTests",
            dependencies: ["CipherDB", "FMDBCompat", "TestSupport"],
            exclude: ["Snippets"]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "CipherDB", "CipherKeys", "CipherPages", "Rekeying", "SQLiteFormat", "SystemSupport", "rekey",
                "TestSupport",
            ],
            exclude: fuzzes ? ["Fuzzing"] : []
        ),
    ],
    swiftLanguageModes: [.v6]
)

// By Scripts/sanitize.sh only.
if Context.environment["CIPHERDB_LEAKS"] != nil {
    package.targets.append(
        .executableTarget(name: "LeakCycle", dependencies: ["CipherDB", "Rekeying"], path: "Tests/LeakCycle")
    )
}

if fuzzes {
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "SQLiteFormat", "SystemSupport"],
            path: "Tests",
            exclude: ["Fuzzing/Corpus"],
            sources: ["Fuzzing", "SecurityTests/Fuzzing"]
        )
    )
}

for target in package.targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
