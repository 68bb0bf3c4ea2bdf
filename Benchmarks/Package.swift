// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherDB", path: "..")],
    targets: [
        .systemLibrary(name: "Engine", path: "Engine", pkgConfig: "sqlcipher"),
        .target(name: "RawC", dependencies: ["Engine"], path: "RawC", cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "RawC",
                .product(name: "CipherDB", package: "CipherDB"),
                .product(name: "FMDBCompat", package: "CipherDB"),
            ],
            path: "Bench"
        ),
    ],
    swiftLanguageModes: [.v6]
)
