// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// The first way: an alias for the module, in the dependency. The name of a package is that of its folder, which is
// netpath for everybody else.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let package = Package(
    name: "Aliased",
    dependencies: [.package(path: "../../..", traits: []), .package(path: "../Sibling")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(
                    name: "Network",
                    package: netpath,
                    moduleAliases: ["Network": "NetPathNetwork"],
                    condition: .when(platforms: [.linux])
                ),
                "Sibling",
            ],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
