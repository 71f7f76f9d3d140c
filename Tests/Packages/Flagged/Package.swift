// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// The second way: a compiler flag in every target that imports the module; any number of them.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let network = Target.Dependency.product(
    name: "NetPathNetwork",
    package: netpath,
    condition: .when(platforms: [.linux])
)
let alias = SwiftSetting.unsafeFlags(["-module-alias", "Network=NetPathNetwork"], .when(platforms: [.linux]))
let package = Package(
    name: "Flagged",
    dependencies: [.package(path: "../../..", traits: []), .package(path: "../Sibling")],
    targets: [
        .target(name: "Interfaces", dependencies: [network], swiftSettings: [alias]),
        .target(name: "Paths", dependencies: [network], swiftSettings: [alias]),
        .executableTarget(
            name: "App",
            dependencies: [network, "Interfaces", "Paths", "Sibling"],
            swiftSettings: [alias]
        ),
    ],
    swiftLanguageModes: [.v6]
)
