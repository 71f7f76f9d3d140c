// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "netpath",
    products: [
        .library(name: "NetPath", targets: ["NetPath"]),
        .library(name: "NetPathNetlink", targets: ["NetPathNetlink"]),
        .library(name: "NetPathSysfs", targets: ["NetPathSysfs"]),
        .library(name: "NetPathTCPProbe", targets: ["NetPathTCPProbe"]),
        .library(name: "NetPathConfiguration", targets: ["NetPathConfiguration"]),
        .library(name: "Reachability", targets: ["Reachability"]),
        .library(name: "LinuxNetworkPath", targets: ["LinuxNetworkPath"]),
        .library(name: "Network", targets: ["Network"]),
        .library(name: "NetPathNetwork", targets: ["NetPathNetwork"]),
        .library(name: "Connectivity", targets: ["Connectivity"]),
        .library(name: "NetPathHTTP", targets: ["NetPathHTTP"]),
        .library(name: "NetPathCurl", targets: ["NetPathCurl"]),
        .library(name: "OfflineRequests", targets: ["OfflineRequests"]),
        .library(name: "NetPathCLI", targets: ["NetPathCLI"]),
        .library(name: "NetPathTestKit", targets: ["NetPathTestKit"]),
        .executable(name: "netpath", targets: ["NetPathCommand"]),
        .executable(name: "netpath-queue", targets: ["QueueCommand"]),
    ],
    traits: [
        .trait(name: "OpenCombine", description: "Combine publishers and an ObservableObject in Connectivity")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Not even resolved without the trait.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // System libraries: a module map and a shim header each.
        .systemLibrary(
            name: "CNetlink",
            pkgConfig: "libnl-route-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev"])]
        ),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // The core: no C, no Foundation, no backend.
        .target(name: "NetPath"),

        // What several modules need of the system: descriptors, names, threads and timers.
        .target(name: "NetPathSystem", dependencies: ["NetPath"]),

        // The backends. Plugins/ is also SwiftPM's folder for package plugins, hence the explicit paths.
        .target(
            name: "NetPathNetlink",
            dependencies: ["NetPath", "NetPathSystem", "CNetlink"],
            path: "Plugins/Netlink"
        ),
        .target(name: "NetPathSysfs", dependencies: ["NetPath", "NetPathSystem"], path: "Plugins/Sysfs"),
        .target(name: "NetPathTCPProbe", dependencies: ["NetPath", "NetPathSystem"], path: "Plugins/TCPProbe"),

        // The composition root: the only module that names the built-in backends.
        .target(
            name: "NetPathConfiguration",
            dependencies: [
                "NetPath", "NetPathNetlink", "NetPathSysfs", "NetPathSystem", "NetPathTCPProbe", "CYAML",
            ],
            resources: [.embedInCode("Resources/netpath.yaml")]
        ),

        // The same from code, for applications: without a file, and without what reads files.
        .target(
            name: "NetPathStandard",
            dependencies: ["NetPath", "NetPathNetlink", "NetPathSysfs", "NetPathSystem"]
        ),
        // Whether a host can be reached, for applications and the command line.
        .target(name: "Reachability", dependencies: ["NetPath", "NetPathStandard", "NetPathSystem"]),
        // Apple's NWPathMonitor, and the module that has Apple's name: see the README for how to depend on it.
        .target(name: "LinuxNetworkPath", dependencies: ["NetPath", "NetPathStandard"]),
        .target(name: "Network", dependencies: ["LinuxNetworkPath"]),
        // The same under a name that no package tests for, for those who rename modules with a compiler flag.
        .target(name: "NetPathNetwork", dependencies: ["LinuxNetworkPath"]),

        // What applications use: one object that says whether there is a connection.
        .target(
            name: "Connectivity",
            dependencies: [
                "NetPath", "NetPathStandard",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ]
        ),

        // Requests over HTTP: what a transport promises, and the one on libcurl.
        .target(name: "NetPathHTTP"),
        .target(name: "NetPathCurl", dependencies: ["CCurl", "NetPathHTTP", "NetPathSystem"]),
        // Requests that are kept on disk and go out when there is a path.
        .target(
            name: "OfflineRequests",
            dependencies: [
                "Connectivity", "NetPath", "NetPathCurl", "NetPathHTTP", "NetPathStandard", "NetPathSystem",
                "Reachability", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        // The command line of the queue, apart from netpath, which links neither SQLite nor Foundation.
        .executableTarget(
            name: "QueueCommand",
            dependencies: [
                "Connectivity", "NetPath", "NetPathCLI", "NetPathCurl", "NetPathHTTP", "OfflineRequests",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // What only the Makefile knows. In C, because a define has no value in Swift.
        .target(
            name: "CBuildFacts",
            cSettings: [.define("NETPATH_COMMIT", to: Context.environment["NETPATH_COMMIT"] ?? "unknown")]
        ),
        .target(
            name: "NetPathCLI",
            dependencies: [
                "CBuildFacts", "NetPath", "NetPathConfiguration", "NetPathSystem", "Reachability",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // A folder netpath beside NetPath would collide on case-insensitive disks.
        .executableTarget(name: "NetPathCommand", dependencies: ["NetPathCLI"]),

        .target(name: "NetPathTestKit", dependencies: ["NetPath", "NetPathHTTP"]),

        // Every way to use the library, small enough to read; the kernel tests run them.
        .executableTarget(
            name: "ExampleOneBackend",
            dependencies: ["NetPath", "NetPathNetlink"],
            path: "Examples/OneBackend"
        ),
        .executableTarget(
            name: "ExampleCoordinator",
            dependencies: ["NetPath", "NetPathNetlink"],
            path: "Examples/Coordinator"
        ),
        .executableTarget(
            name: "ExampleConfigured",
            dependencies: ["NetPath", "NetPathConfiguration"],
            path: "Examples/Configured"
        ),
        .executableTarget(
            name: "ExampleOwnBackend",
            dependencies: ["NetPath", "NetPathCLI"],
            path: "Examples/OwnBackend"
        ),
        .executableTarget(
            name: "ExampleBulletproofRequest",
            dependencies: ["NetPath", "NetPathConfiguration", "NetPathCurl", "NetPathHTTP", "Reachability"],
            path: "Examples/BulletproofRequest"
        ),

        .executableTarget(
            name: "ExampleOfflineLabel",
            dependencies: ["Connectivity"],
            path: "Examples/OfflineLabel"
        ),
        .executableTarget(
            name: "ExampleOfflineOverlay",
            dependencies: ["Connectivity"],
            path: "Examples/OfflineOverlay"
        ),
        .executableTarget(
            name: "ExampleEventLoop",
            dependencies: ["Connectivity"],
            path: "Examples/EventLoop"
        ),
        .executableTarget(
            name: "ExampleStatusView",
            dependencies: ["Connectivity"],
            path: "Examples/StatusView"
        ),

        .executableTarget(
            name: "ExampleOfflineDemo",
            dependencies: ["Connectivity", "NetPath", "OfflineRequests"],
            path: "Examples/OfflineDemo",
            exclude: ["run"]
        ),

        .testTarget(name: "NetPathTests", dependencies: ["NetPath", "NetPathTestKit"]),
        .testTarget(name: "NetPathSystemTests", dependencies: ["NetPath", "NetPathSystem", "NetPathTestKit"]),
        .testTarget(
            name: "NetPathNetlinkTests",
            dependencies: ["NetPath", "NetPathNetlink", "NetPathTestKit"],
            exclude: ["Fixtures"]
        ),
        .testTarget(name: "NetPathSysfsTests", dependencies: ["NetPath", "NetPathSysfs", "NetPathTestKit"]),
        .testTarget(
            name: "NetPathTCPProbeTests",
            dependencies: ["NetPath", "NetPathSystem", "NetPathTCPProbe", "NetPathTestKit"]
        ),
        .testTarget(
            name: "NetPathConfigurationTests",
            dependencies: ["NetPath", "NetPathConfiguration", "NetPathTestKit"]
        ),
        .testTarget(
            name: "NetPathCLITests",
            dependencies: ["NetPath", "NetPathCLI", "NetPathSystem", "NetPathTestKit", "Reachability"]
        ),
        // What the tests of the facade run inside namespaces.
        .executableTarget(
            name: "PathMonitorScenarios",
            dependencies: ["NetPathStandard", "Network"],
            path: "Tests/PathMonitorScenarios"
        ),
        // What the tests of host reachability run in a process of its own, to count what it uses.
        .executableTarget(
            name: "ReachabilityScenarios",
            dependencies: ["NetPath", "Reachability"],
            path: "Tests/ReachabilityScenarios"
        ),
        .testTarget(
            name: "ReachabilityTests",
            dependencies: ["NetPath", "NetPathSystem", "NetPathTestKit", "Reachability"]
        ),
        .testTarget(
            name: "LinuxNetworkPathTests",
            dependencies: ["LinuxNetworkPath", "NetPath", "NetPathStandard", "NetPathTestKit"]
        ),
        .testTarget(
            name: "FacadeTests",
            dependencies: ["NetPathTestKit", "PathMonitorScenarios"],
            exclude: ["Fixtures"]
        ),
        // What the tests of the monitor run inside namespaces.
        .executableTarget(
            name: "ConnectivityScenarios",
            dependencies: ["Connectivity", "NetPath", "NetPathNetlink", "Reachability"],
            path: "Tests/ConnectivityScenarios"
        ),
        .testTarget(
            name: "ConnectivityTests",
            dependencies: [
                "Connectivity", "NetPath", "NetPathTestKit", "ConnectivityScenarios",
                "ExampleEventLoop", "ExampleOfflineLabel", "ExampleOfflineOverlay", "ExampleStatusView",
            ]
        ),
        // What a look of the sysfs backend costs, alone in a process.
        .executableTarget(
            name: "SysfsPasses",
            dependencies: ["NetPath", "NetPathSysfs"],
            path: "Tests/SysfsPasses"
        ),
        .testTarget(
            name: "KernelTests",
            dependencies: [
                "NetPath", "NetPathTestKit", "NetPathCommand", "SysfsPasses",
                "ExampleOneBackend", "ExampleCoordinator", "ExampleConfigured", "ExampleOwnBackend",
                "ExampleBulletproofRequest", "ReachabilityScenarios",
            ]
        ),
        .testTarget(name: "NetPathHTTPTests", dependencies: ["NetPathHTTP", "NetPathTestKit"]),
        // A server of HTTP for the tests, which can fail at any point of a request.
        .executableTarget(name: "HTTPLabServer", dependencies: ["NetPathSystem"], path: "Tests/HTTPLabServer"),
        // What the tests of the transport run in a process of its own, to count what it uses.
        .executableTarget(
            name: "HTTPScenarios",
            dependencies: ["NetPathCurl", "NetPathHTTP"],
            path: "Tests/HTTPScenarios"
        ),
        .testTarget(
            name: "NetPathCurlTests",
            dependencies: ["HTTPLabServer", "HTTPScenarios", "NetPathCurl", "NetPathHTTP", "NetPathTestKit"]
        ),
        .testTarget(
            name: "OfflineRequestsTests",
            dependencies: [
                "Connectivity", "NetPath", "NetPathHTTP", "NetPathTestKit", "OfflineRequests", "OfflineUse",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"]
        ),
        // What the documentation of OfflineRequests shows, compiled.
        .executableTarget(
            name: "OfflineUse",
            dependencies: ["NetPathHTTP", "OfflineRequests"],
            path: "Tests/OfflineUse"
        ),
        // What the tests of delivery kill, and run inside namespaces.
        .executableTarget(
            name: "OfflineScenarios",
            dependencies: [
                "Connectivity", "NetPath", "NetPathCurl", "NetPathHTTP", "NetPathTestKit", "OfflineRequests",
            ],
            path: "Tests/OfflineScenarios"
        ),
        // Delivery to a real server over a network that is cut, from programs that are killed.
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "ExampleOfflineDemo", "HTTPLabServer", "NetPathCommand", "NetPathTestKit", "OfflineScenarios",
                "QueueCommand", .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        // netpath with backends that can be broken from outside.
        .executableTarget(
            name: "ChaosCommand",
            dependencies: ["NetPath", "NetPathCLI"],
            path: "Tests/ChaosCommand"
        ),
        // A tunnel in a process, which carries the packets of an interface in datagrams.
        .executableTarget(name: "LabTunnel", path: "Tests/LabTunnel"),
        .testTarget(
            name: "WalkTests",
            dependencies: ["NetPathTestKit", "NetPathCommand", "ChaosCommand", "LabTunnel"]
        ),
        // Networks as real software makes them, decided by datagrams.
        .testTarget(name: "SetupTests", dependencies: ["NetPathTestKit", "NetPathCommand", "LabTunnel"]),
        .testTarget(name: "ComparisonTests", dependencies: ["NetPath", "NetPathTestKit", "NetPathCommand"]),
        .testTarget(
            name: "ConsumerTests",
            dependencies: [
                "Connectivity", "NetPath", "NetPathNetlink", "NetPathConfiguration", "NetPathTestKit", "Reachability",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    switch target.type {
    case .regular, .test, .executable:
        var settings = target.swiftSettings ?? []

        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        settings.append(.enableUpcomingFeature("ExistentialAny"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        settings.append(.enableUpcomingFeature("InternalImportsByDefault"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        settings.append(.enableUpcomingFeature("MemberImportVisibility"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        settings.append(.enableUpcomingFeature("NonisolatedNonsendingByDefault"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
        settings.append(.enableUpcomingFeature("InferIsolatedConformances"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0481-weak-let.md
        settings.append(.enableUpcomingFeature("ImmutableWeakCaptures"))
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
        settings.append(.strictMemorySafety())

        // Only in CI: a new compiler must never break somebody else's build.
        if Context.environment["NETPATH_CI"] != nil {
            settings.append(.treatAllWarnings(as: .error))
            settings.append(.unsafeFlags(["-Xfrontend", "-require-explicit-sendable"]))
        }
        target.swiftSettings = settings
    case .macro, .plugin, .system, .binary:
        ()  // not applicable
    @unknown default:
        ()  // nothing is known about this kind of target
    }
}
