// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "netpath", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "first-path",
            dependencies: [
                .product(name: "NetPath", package: "netpath"), .product(name: "NetPathNetlink", package: "netpath"),
            ],
            path: "FirstPath"
        ),
        .executableTarget(
            name: "memory-floor",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "MemoryFloor",
            linkerSettings: [.linkedLibrary("nl-3"), .linkedLibrary("nl-route-3"), .linkedLibrary("yaml")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
