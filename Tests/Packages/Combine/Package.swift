// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// A package that asks for the trait.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let package = Package(
    name: "Combine",
    dependencies: [
        .package(path: "../../..", traits: ["OpenCombine"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Connectivity", package: netpath),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
