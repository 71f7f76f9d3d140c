// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// Programs as applications write them, each whole. The name of a package is that of its folder, which is netpath
// elsewhere.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(2).last ?? "netpath")
let network = Target.Dependency.product(
    name: "Network",
    package: netpath,
    moduleAliases: ["Network": "NetPathNetwork"],
    condition: .when(platforms: [.linux])
)
let package = Package(
    name: "Examples",
    dependencies: [.package(path: "../..")],
    targets: [
        .executableTarget(name: "NetworkCheck", dependencies: [network]),
        .executableTarget(
            name: "OwnBackend",
            dependencies: ["NetPath", "NetPathCLI", "NetPathPluginKit"].map { .product(name: $0, package: netpath) }
        ),
        // Of the time before Swift 6, and not to be changed.
        .executableTarget(
            name: "NetworkScreen",
            dependencies: [network],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ],
    swiftLanguageModes: [.v6]
)
