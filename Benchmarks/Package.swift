// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "netpath", path: "..")],
    targets: [
        .executableTarget(
            name: "first-path",
            dependencies: [
                .product(name: "NetPath", package: "netpath"), .product(name: "NetPathNetlink", package: "netpath"),
            ],
            path: "FirstPath"
        )
    ],
    swiftLanguageModes: [.v6]
)
