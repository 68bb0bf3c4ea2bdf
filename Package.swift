// swift-tools-version: 6.1
import PackageDescription

// By Scripts/fuzz.sh only: it needs libFuzzer.
let fuzzes = Context.environment["CIPHERDB_FUZZ"] != nil

let metrics = Target.Dependency.product(
    name: "Metrics",
    package: "swift-metrics",
    condition: .when(traits: ["Metrics"])
)

let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle",
    package: "swift-service-lifecycle",
    condition: .when(traits: ["ServiceLifecycle"])
)

let package = Package(
    name: "CipherDB",
    // What Synchronization's atomics need. Linux is tested, macOS not yet; the others need a SQLCipher of their own to link.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CipherDB", targets: ["CipherDB"]),
        .library(name: "FMDBCompat", targets: ["FMDBCompat"]),
        .library(name: "Rekeying", targets: ["Rekeying"]),
        .executable(name: "rekey", targets: ["rekey"]),
    ],
    traits: [
        .trait(name: "Logging", description: "Configuration.logger: a database logs to swift-log."),
        .trait(name: "Metrics", description: "Times and counts go to swift-metrics."),
        .trait(name: "Tracing", description: "Reads, writes and statements are spans of swift-distributed-tracing."),
        .trait(
            name: "ServiceLifecycle",
            description: "DatabaseQueue, DatabasePool and ContinuousBackup are services of swift-service-lifecycle."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCipherOpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]
        ),
        .target(name: "CCipherSystem"),
        .target(name: "CCipherLanes"),
        .target(name: "CipherSystem", dependencies: ["CCipherSystem"]),
        .target(
            name: "CipherKeys",
            dependencies: ["CCipherOpenSSL", "CCipherSystem", "CipherSystem", metrics],
            path: "Keys"
        ),
        .target(name: "SQLiteFormat", dependencies: ["CipherSystem"]),
        .target(
            name: "CipherPages",
            dependencies: ["CCipherLanes", "CCipherOpenSSL", "CipherKeys", "SQLiteFormat", "CipherSystem"]
        ),
        .target(
            name: "CipherDB",
            dependencies: [
                "CSQLCipher", "CCipherSystem", "CipherKeys", "CipherPages", "SQLiteFormat", "CipherSystem", metrics,
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
                lifecycle,
            ]
        ),
        .target(name: "CipherBackup", dependencies: ["CipherKeys", "CipherPages", "SQLiteFormat", "CipherSystem"]),
        .target(name: "FMDBCompat", dependencies: ["CipherDB", "CipherKeys", "CipherSystem"]),
        .target(name: "CipherSalvage", dependencies: ["CipherDB", "CipherPages", "SQLiteFormat", "CipherSystem"]),
        .target(
            name: "Rekeying",
            dependencies: [
                "CipherBackup", "CipherDB", "CipherKeys", "CipherPages", "SQLiteFormat", "CipherSalvage",
                "CipherSystem", lifecycle,
            ]
        ),
        .executableTarget(
            name: "rekey",
            dependencies: [
                "CipherDB", "CipherKeys", "Rekeying", "CipherSystem",
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
            dependencies: ["CSQLCipher", "CipherDB", "CipherKeys", "CipherSystem"],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "CipherKeysTests",
            dependencies: ["CipherKeys", "CipherSystem", "TestSupport"],
            resources: [.copy("Vectors")]
        ),
        .testTarget(
            name: "CipherPagesTests",
            dependencies: ["CipherKeys", "CipherPages", "SQLiteFormat", "CipherSystem", "TestSupport"]
        ),
        // A process of ServiceRotationTests.
        .executableTarget(
            name: "ServiceInstance",
            dependencies: ["CipherDB"],
            path: "Tests/CipherDBTests/Articles/Service"
        ),
        // A process of WALResetLoadTests.
        .executableTarget(
            name: "CheckpointLoad",
            dependencies: ["CSQLCipher", "CipherDB", "Rekeying"],
            path: "Tests/CheckpointLoad"
        ),
        // A process of StorageFailureTests and CreationTests.
        .executableTarget(name: "OpeningProcess", dependencies: ["CipherDB"], path: "Tests/OpeningProcess"),
        // A process of ProcessEndTests.
        .executableTarget(
            name: "EndingProcess",
            dependencies: ["CipherDB", "CipherKeys"],
            path: "Tests/SecurityTests/EndingProcess"
        ),
        .testTarget(
            name: "CipherDBTests",
            dependencies: [
                "CSQLCipher", "CheckpointLoad", "CipherDB", "CipherKeys", "CipherPages", "Rekeying", "SQLiteFormat",
                "CipherSystem", "OpeningProcess", "ServiceInstance", "TestSupport",
            ],
            exclude: ["Articles/Service"]
        ),
        .testTarget(
            name: "FMDBCompatTests",
            dependencies: ["CipherDB", "CipherKeys", "FMDBCompat", "CipherSystem", "TestSupport"]
        ),
        .testTarget(
            name: "RekeyingTests",
            dependencies: [
                "CipherBackup", "CipherDB", "CipherKeys", "CipherPages", "Rekeying", "SQLiteFormat", "CipherSystem",
                "TestSupport",
            ],
            exclude: ["Vectors"]
        ),
        .testTarget(
            name: "RekeyCommandTests",
            dependencies: [
                "CipherDB", "CipherKeys", "Rekeying", "CipherSystem", "rekey", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Faults"]
        ),
        .testTarget(
            name: "SnippetTests",
            dependencies: ["CipherDB", "FMDBCompat", "Rekeying", "TestSupport"],
            exclude: ["Snippets"]
        ),
        .target(name: "CForking", path: "Tests/CForking"),
        // A process of ForkTests.
        .executableTarget(
            name: "ForkedUses",
            dependencies: [
                "CForking", "CipherDB", "CipherKeys", "CipherPages", "CipherSystem", "FMDBCompat", "Rekeying",
                "TestSupport",
            ],
            path: "Tests/ForkedUses"
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "CipherDB", "CipherKeys", "CipherPages", "EndingProcess", "ForkedUses", "Rekeying", "SQLiteFormat",
                "CipherSystem", "rekey", "TestSupport",
            ],
            exclude: ["EndingProcess"] + (fuzzes ? ["Fuzzing"] : [])
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
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "SQLiteFormat", "CipherSystem"],
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
