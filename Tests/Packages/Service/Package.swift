// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// A server that runs a coordinator beside its other services.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let package = Package(
    name: "Service",
    dependencies: [
        .package(path: "../../.."),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "NetPath", package: netpath),
                .product(name: "NetPathStandard", package: netpath),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
