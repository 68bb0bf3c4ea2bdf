// swift-tools-version: 6.1
import PackageDescription

// By Scripts/fuzz.sh only: it needs libFuzzer.
let fuzzes = Context.environment["CIPHERDB_FUZZ"] != nil

let package = Package(
    name: "CipherDB",
    platforms: [.macOS(.v15)],
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
        .target(name: "CipherKeys", dependencies: ["COpenSSL", "CSystem"], path: "Keys"),
        .target(name: "CipherPages", dependencies: ["CLanes", "COpenSSL", "CipherKeys"]),
        .target(name: "CipherDB", dependencies: ["CSQLCipher", "CipherKeys", "CipherPages"]),
        .target(name: "FMDBCompat", dependencies: ["CipherDB", "CipherKeys"]),
        .target(name: "Rekeying", dependencies: ["CipherDB", "CipherKeys", "CipherPages"]),
        .executableTarget(
            name: "rekey",
            dependencies: [
                "Rekeying",
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
            dependencies: ["CipherDB", "CipherKeys", "CipherPages"],
            path: "Tests/TestSupport"
        ),
        .testTarget(
            name: "CipherKeysTests",
            dependencies: ["CipherKeys", "TestSupport"],
            resources: [.copy("Vectors")]
        ),
        .testTarget(name: "CipherPagesTests", dependencies: ["CipherPages", "TestSupport"]),
        .testTarget(name: "CipherDBTests", dependencies: ["CipherDB", "TestSupport"]),
        .testTarget(name: "FMDBCompatTests", dependencies: ["FMDBCompat", "CipherDB", "TestSupport"]),
        .testTarget(name: "RekeyingTests", dependencies: ["Rekeying", "TestSupport"]),
        .testTarget(
            name: "RekeyCommandTests",
            dependencies: [
                "Rekeying", "rekey", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Faults"]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: ["CipherDB", "CipherKeys", "CipherPages", "Rekeying", "rekey", "TestSupport"],
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
            dependencies: ["CipherDB", "CipherKeys", "CipherPages"],
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
