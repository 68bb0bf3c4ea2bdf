// swift-tools-version: 6.1
import PackageDescription

// What every program of the benchmark has: the benchmark itself, and the ones with another library.
let package = Package(
    name: "Turns",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Turns", targets: ["Turns"])],
    targets: [.target(name: "Turns")],
    swiftLanguageModes: [.v6]
)
