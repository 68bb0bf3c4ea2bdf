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

// A program that depends on CipherDB gets the libraries, and resolves nothing for the command, the examples and the tests. SwiftPM reads
// the manifest of a dependency at "/" while it chooses a version, and in a directory "checkouts" afterwards.
let isDependency =
    Context.packageDirectory == "/" || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

// On macOS: Homebrew's SQLCipher and OpenSSL.
let usesHomebrew = Context.environment["CIPHERDB_HOMEBREW"] != nil

// SQLCipher and OpenSSL of the system, by pkg-config. Elsewhere SQLCipher.swift, and CommonCrypto of Apple's systems.
let ofSystem: TargetDependencyCondition? = usesHomebrew ? nil : .when(platforms: [.linux])
let openSSL = Target.Dependency.target(name: "CCipherOpenSSL", condition: ofSystem)
let usesOpenSSL = SwiftSetting.define("OpenSSL", usesHomebrew ? nil : .when(platforms: [.linux]))
var engine: [Target.Dependency] = [.target(name: "CSystemSQLCipher", condition: ofSystem)]

let package = Package(
    name: "CipherDB",
    // What Swift's clocks, durations and regular expressions need. Linux is tested, the others are not yet.
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "CipherDB", targets: ["CipherDB"]),
        .library(name: "FMDBCompat", targets: ["FMDBCompat"]),
        .library(name: "Rekeying", targets: ["Rekeying"]),
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
            name: "CSystemSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]
        ),
        .target(
            name: "CSQLCipher",
            linkerSettings: [.linkedLibrary("sqlcipher", usesHomebrew ? nil : .when(platforms: [.linux]))]
        ),
        .target(name: "CCipherSystem"),
        .target(name: "CCipherLanes"),
        .target(name: "CipherSystem", dependencies: ["CCipherSystem"]),
        .target(
            name: "CipherKeys",
            dependencies: [openSSL, "CCipherSystem", "CipherSystem", metrics],
            path: "Keys",
            swiftSettings: [usesOpenSSL]
        ),
        .target(name: "SQLiteFormat", dependencies: ["CipherSystem"]),
        .target(
            name: "CipherPages",
            dependencies: ["CCipherLanes", openSSL, "CipherKeys", "SQLiteFormat", "CipherSystem"],
            swiftSettings: [usesOpenSSL]
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
    ],
    swiftLanguageModes: [.v6]
)

#if os(macOS)
    // Zipped frameworks are fetched on every host that sees them.
    if !usesHomebrew {
        package.dependencies.append(.package(url: "https://github.com/sqlcipher/SQLCipher.swift", from: "4.14.0"))
        engine.append(
            .product(
                name: "SQLCipher",
                package: "SQLCipher.swift",
                condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])
            )
        )
    }
    package.targets.first { $0.name == "CipherSystem" }!.resources = [.copy("PrivacyInfo.xcprivacy")]
#else
    package.targets.first { $0.name == "CipherSystem" }!.exclude = ["PrivacyInfo.xcprivacy"]
#endif
package.targets.first { $0.name == "CSQLCipher" }!.dependencies = engine

if !isDependency {
    package.products.append(.executable(name: "rekey", targets: ["rekey"]))
    package.dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"))
    package.targets += [
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
                "CForking", "CipherBackup", "CipherDB", "CipherKeys", "CipherPages", "CipherSystem", "FMDBCompat",
                "Rekeying", "TestSupport",
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
    ]
}

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
