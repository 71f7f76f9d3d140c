// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// Every library product in one program, in both language modes.
let netpath = String(Context.packageDirectory.split(separator: "/").dropLast(3).last ?? "netpath")
let products: [Target.Dependency] = [
    "NetPath", "NetPathExplanation", "NetPathPluginKit", "NetPathNetlink", "NetPathSysfs", "NetPathTCPProbe",
    "NetPathHTTPProbe", "NetPathExec", "NetPathConfiguration", "NetPathStandard", "Reachability", "LinuxNetworkPath",
    "Network", "NetPathNetwork", "Connectivity", "ConnectivityNotifications", "NetPathHTTP", "NetPathCurl",
    "OfflineRequests", "NetPathCLI", "NetPathTestKit",
].map { .product(name: $0, package: netpath) }
let package = Package(
    name: "Products",
    dependencies: [.package(path: "../../..")],
    targets: [
        .executableTarget(name: "Products", dependencies: products),
        .executableTarget(
            name: "ProductsInSwift5",
            dependencies: products,
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ],
    swiftLanguageModes: [.v6]
)
