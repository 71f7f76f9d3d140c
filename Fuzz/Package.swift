// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// What reads bytes of others, under libFuzzer: `make fuzz`. The variable NETPATH_FUZZ makes netpath's inner modules a product.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "netpath")
let package = Package(
    name: "Fuzz",
    dependencies: [
        .package(path: "..", traits: ["CommandLine", "OfflineRequests", "Server"]),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
    ],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                .product(name: "Fuzzed", package: netpath),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: [.strictMemorySafety(), .unsafeFlags(["-parse-as-library"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
