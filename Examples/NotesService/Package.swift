// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who uses CipherDB need not resolve a web server.
let package = Package(
    name: "NotesService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "CipherDB", path: "../.."),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .executableTarget(
            name: "NotesService",
            dependencies: [
                .product(name: "CipherDB", package: "CipherDB"),
                .product(name: "FlyingFox", package: "FlyingFox"),
            ],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
