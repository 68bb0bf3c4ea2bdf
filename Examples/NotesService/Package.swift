// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that programs that use CipherDB need not resolve a web server.
let package = Package(
    name: "NotesService",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "CipherDB",
            path: "../..",
            traits: ["Logging", "Metrics", "Tracing", "ServiceLifecycle"]
        ),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "NotesService",
            dependencies: [
                .product(name: "CipherDB", package: "CipherDB"),
                .product(name: "Rekeying", package: "CipherDB"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Sources"
        ),
        .testTarget(
            name: "NotesServiceTests",
            dependencies: [
                "NotesService",
                .product(name: "CipherDB", package: "CipherDB"),
                .product(name: "Rekeying", package: "CipherDB"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests"
        ),
    ],
    swiftLanguageModes: [.v6]
)
