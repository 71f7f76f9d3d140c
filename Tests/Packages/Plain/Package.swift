// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// The third way: as it is, where no package of the whole build asks canImport(Network).
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let network = Target.Dependency.product(name: "Network", package: netpath, condition: .when(platforms: [.linux]))
let package = Package(
    name: "Plain",
    dependencies: [.package(path: "../../..", traits: [])],
    targets: [
        .target(name: "Interfaces", dependencies: [network]),
        .target(name: "Paths", dependencies: [network]),
        .executableTarget(name: "App", dependencies: [network, "Interfaces", "Paths"]),
    ],
    swiftLanguageModes: [.v6]
)
