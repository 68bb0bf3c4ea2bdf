// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherDB", path: ".."), .package(path: "Turns")],
    targets: [
        .systemLibrary(name: "Engine", path: "Engine", pkgConfig: "sqlcipher"),
        .target(name: "RawC", dependencies: ["Engine"], path: "RawC", cSettings: [.unsafeFlags(["-O2"])]),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "RawC", "Turns",
                .product(name: "CipherDB", package: "CipherDB"),
                .product(name: "FMDBCompat", package: "CipherDB"),
            ],
            path: "Bench"
        ),
    ],
    swiftLanguageModes: [.v6]
)
