// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// An application that asks whether there is a connection, and fetches nothing for it.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let package = Package(
    name: "Connected",
    dependencies: [.package(path: "../../..", traits: [])],
    targets: [
        .executableTarget(name: "App", dependencies: [.product(name: "Connectivity", package: netpath)]),
        .executableTarget(
            name: "PathApp",
            dependencies: [.product(name: "NetPathNetwork", package: netpath)],
            swiftSettings: [.unsafeFlags(["-module-alias", "Network=NetPathNetwork"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)
