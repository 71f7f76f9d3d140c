// swift-tools-version: 6.2

import PackageDescription

// MARK: Libraries, from the bottom up

/// Libraries of C: a module map and a shim header each.
let systemLibraries: [Target] = [
    .systemLibrary(
        name: "CNetlink",
        pkgConfig: "libnl-route-3.0",
        providers: [.apt(["libnl-3-dev", "libnl-route-3-dev"])]
    ),
    // Their headers are where every compiler looks. SwiftPM asks pkg-config for all packages it reads about, used or not,
    // and warns of those that are missing.
    .systemLibrary(name: "CYAML", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
]

/// What a path is, and how evidence becomes one.
let core: [Target] = [
    // Values, evaluation, merging, the coordinator and the protocol of backends: no C, no Foundation, no backend.
    .target(name: "NetPath"),
    // Why evidence leads to a verdict, and what to do about it: text for people, which the coordinator does without.
    .target(name: "NetPathExplanation", dependencies: ["NetPath"]),
    // What several modules need of the system: descriptors, names, threads and timers.
    .target(name: "NetPathSystem", dependencies: ["NetPath"]),
    // Programs that others wrote: looked at, started with few rights, and ended with all that they started.
    .target(name: "NetPathProcess", dependencies: ["CLaunch", "NetPath", "NetPathSystem"]),
    // What runs between fork and exec, where Swift must not.
    .target(name: "CLaunch"),
    // What every backend needs: polling, threads, descriptors, file watching, timers and lines.
    .target(name: "NetPathPluginKit", dependencies: ["NetPath", "NetPathSystem"]),
]

/// Where evidence comes from; they do not know one another.
let backends: [Target] = [
    backend("Netlink", ["CNetlink"]), backend("Sysfs", ["NetPathPluginKit"]), backend("TCPProbe"),
    backend("Exec", ["NetPathProcess"]),
    // Sends nothing by itself: the program that runs it brings a transport.
    .target(
        name: "NetPathHTTPProbe",
        dependencies: ["NetPath", "NetPathHTTP", "NetPathPluginKit"],
        path: "Plugins/HTTPProbe"
    ),
]

/// What puts backends together.
let coordinators: [Target] = [
    // From a configuration file, and the registry of the backends that a file can name.
    .target(
        name: "NetPathConfiguration",
        dependencies: [
            "NetPath", "NetPathExec", "NetPathHTTPProbe", "NetPathNetlink", "NetPathProcess", "NetPathSysfs",
            "NetPathSystem", "NetPathTCPProbe", "CYAML",
        ],
        resources: [.embedInCode("Resources/netpath.yaml")]
    ),
    // From code: the one coordinator that everything in a process shares which watches the network.
    .target(name: "NetPathStandard", dependencies: ["NetPath", "NetPathNetlink", "NetPathSysfs", "NetPathSystem"]),
]

/// What happened to a coordinator, on disk and run once more.
let recording: [Target] = [.target(name: "NetPathRecording", dependencies: ["NetPath", "NetPathSystem"])]

/// What applications import.
let applications: [Target] = [
    // One object that says whether there is a connection; without Foundation.
    .target(
        name: "Connectivity",
        dependencies: [
            "NetPath", "NetPathStandard",
            product("OpenCombine", of: "OpenCombine", trait: "OpenCombine"),
        ]
    ),
    // The same as notifications, which bring Foundation with them.
    .target(name: "ConnectivityNotifications", dependencies: ["Connectivity"]),
    // Whether a host can be reached.
    .target(name: "Reachability", dependencies: ["NetPath", "NetPathStandard", "NetPathSystem"]),
    // Apple's NWPathMonitor.
    .target(name: "LinuxNetworkPath", dependencies: ["NetPath", "NetPathStandard"]),
    // The same under Apple's name, and under one that no package tests for, for those who rename modules with a
    // compiler flag: see the README.
    .target(name: "Network", dependencies: ["LinuxNetworkPath"]),
    .target(name: "NetPathNetwork", dependencies: ["LinuxNetworkPath"]),
]

/// Requests over HTTP.
let requests: [Target] = [
    // What a transport promises. Apart from the one on libcurl, so that test doubles need no libcurl.
    .target(name: "NetPathHTTP"),
    .target(name: "NetPathCurl", dependencies: ["CCurl", "NetPathHTTP", "NetPathSystem"]),
    // Requests that are kept on disk and go out when there is a path.
    .target(
        name: "OfflineRequests",
        dependencies: [
            "Connectivity", "NetPath", "NetPathCurl", "NetPathHTTP", "NetPathStandard", "NetPathSystem",
            "Reachability", grdb, sqlite,
        ]
    ),
]

/// The programs: `netpath`, which links neither SQLite nor libcurl nor a web server nor Foundation, and apart from it those
/// that do: `netpath-http`, which is the same with backends that send requests, `netpath-queue`, `netpath-plugin` and
/// `netpath-serve`.
let programs: [Target] = [
    // What only the Makefile knows, and what of glibc Swift does not see. In C, because a define has no value in Swift.
    .target(
        name: "CBuildFacts",
        cSettings: [.define("NETPATH_COMMIT", to: Context.environment["NETPATH_COMMIT"] ?? "unknown")]
    ),
    .target(
        name: "NetPathCLI",
        dependencies: [
            "CBuildFacts", "NetPath", "NetPathConfiguration", "NetPathExplanation", "NetPathProcess",
            "NetPathRecording",
            "NetPathSystem", "Reachability", argumentParser,
        ],
        resources: [
            "netpath.schema.json", "Plugin/Package.swift.template", "Plugin/Package.yaml.template",
            "Plugin/Package.md.template", "Plugin/Monitor.swift.template", "Plugin/Registration.swift.template",
            "Plugin/main.swift.template", "Plugin/Tests.swift.template", "Plugin/Program.py.template",
            "Plugin/Program.sh.template", "Plugin/Program.test.template", "Plugin/Program.yaml.template",
            "Plugin/Program.md.template",
        ]
        .map { .embedInCode("Resources/\($0)") }
    ),
    // A status page, an offline banner and metrics over HTTP; knows neither coordinators nor configurations.
    .target(
        name: "NetPathServe",
        dependencies: ["NetPathSystem", nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix")],
        resources: [
            "page.html", "login.html", "page.css", "page.js", "banner.js", "banner.d.ts", "demo.html", "demo.js",
            "openapi.json",
        ]
        .map { .embedInCode("Resources/\($0)") }
    ),
    // A folder netpath beside NetPath would collide on case-insensitive disks.
    .executableTarget(name: "NetPathCommand", dependencies: ["NetPathCLI"]),
    .executableTarget(name: "HTTPCommand", dependencies: ["NetPathCLI", "NetPathCurl", "NetPathHTTPProbe"]),
    // Apart too: what checks backends is what tests have, Foundation included.
    .executableTarget(
        name: "PluginCommand",
        dependencies: [
            "NetPath", "NetPathCLI", "NetPathConfiguration", "NetPathExec", "NetPathProcess", "NetPathSystem",
            "NetPathTestKit",
            argumentParser,
        ]
    ),
    .executableTarget(
        name: "QueueCommand",
        dependencies: [
            "Connectivity", "NetPath", "NetPathCLI", "NetPathCurl", "NetPathHTTP", "NetPathHTTPProbe",
            "NetPathSystem", "OfflineRequests", argumentParser,
        ]
    ),
    .executableTarget(
        name: "ServeCommand",
        dependencies: ["NetPathCLI", "NetPathConfiguration", "NetPathServe", "NetPathSystem", argumentParser]
    ),
]

// MARK: Examples and tests

/// Every way to use the libraries, small enough to read, and run by the tests: Examples/NAME is the program ExampleNAME.
let examples: [Target] = [
    ("Coordinator", ["NetPath", "NetPathConfiguration", "NetPathNetlink"]),
    ("OwnBackend", ["NetPath", "NetPathCLI", "NetPathPluginKit"]),
    ("BulletproofRequest", ["NetPath", "NetPathConfiguration", "NetPathCurl", "NetPathHTTP", "Reachability"]),
    ("Connectivity", ["Connectivity", "ConnectivityNotifications"]),
    ("OfflineDemo", ["Connectivity", "NetPath", "OfflineRequests"]),
].map { program("Example\($0)", $1, in: "Examples/\($0)", without: $0 == "OfflineDemo" ? ["run"] : []) }

/// Doubles of what is outside, and networks in namespaces.
let testKit: [Target] = [
    .target(name: "NetPathTestKit", dependencies: ["NetPath", "NetPathHTTP", "NetPathRecording", "NetPathSystem"])
]

/// Programs that tests run, kill, and count the memory and the wake-ups of.
let support: [Target] = [
    // What stands at the other end of a network of the tests: a server of HTTP that fails on request, tunnels, hosts.
    ("LabPeers", ["NetPathSystem"]),
    // The monitors of applications.
    ("MonitorScenarios", ["Connectivity", "NetPath", "NetPathNetlink", "NetPathStandard", "Network", "Reachability"]),
    // The queue, and its transport.
    (
        "OfflineScenarios",
        ["Connectivity", "NetPath", "NetPathCurl", "NetPathHTTP", "NetPathTestKit", "OfflineRequests"]
    ),
    // What a look of the sysfs backend costs: alone, since all memory of its process counts.
    ("SysfsPasses", ["NetPath", "NetPathSysfs"]),
    // netpath with backends that can be broken from outside.
    ("ChaosCommand", ["NetPath", "NetPathCLI"]),
].map { program($0, $1, in: "Tests/Support/\($0)") }

/// The suites; the programs that they run are built with them, and linked into none.
let tests: [Target] = [
    // Without a kernel, in seconds.
    (
        "NetPathTests",
        ["NetPathConfiguration", "NetPathExplanation", "NetPathProcess", "NetPathRecording", "NetPathSystem"]
    ),
    (
        "BackendTests",
        [
            "NetPathExec", "NetPathNetlink", "NetPathPluginKit", "NetPathProcess", "NetPathSysfs", "NetPathSystem",
            "NetPathTCPProbe",
        ]
    ),
    (
        "NetPathCLITests",
        [
            "NetPathCLI", "NetPathConfiguration", "NetPathExplanation", "NetPathProcess", "NetPathRecording",
            "NetPathSystem", "Reachability",
        ]
    ),
    // The programs and the commands that the documentation shows.
    (
        "DocumentationTests",
        [
            "Connectivity", "ConnectivityNotifications", "LinuxNetworkPath", "NetPathCLI", "NetPathConfiguration",
            "NetPathCurl", "NetPathHTTP", "NetPathNetlink", "OfflineRequests", "Reachability",
        ]
    ),
    // What applications import.
    (
        "ApplicationTests",
        [
            "Connectivity", "ConnectivityNotifications", "LinuxNetworkPath", "NetPathConfiguration", "NetPathNetlink",
            "NetPathStandard", "NetPathSystem", "Reachability",
        ]
    ),
    // netpath and the examples against a real kernel, and networks from tables and at random: in network namespaces.
    ("KernelTests", []),
    ("NetworkTests", []),
    // Requests: the transport, the queue, and delivery over a network that is cut, from programs that are killed.
    ("NetPathHTTPTests", ["NetPathCurl", "NetPathHTTP", "NetPathHTTPProbe"]),
    ("OfflineRequestsTests", ["Connectivity", "NetPathHTTP", "NetPathSystem", "OfflineRequests", grdb, sqlite]),
    ("DeliveryTests", [grdb]),
    // The status page, its events and metrics: values without sockets, and a server on sockets of its own.
    ("ServeTests", ["NetPathCLI", "NetPathConfiguration", "NetPathServe", "NetPathSystem"]),
].map { .testTarget(name: $0, dependencies: ["NetPath", "NetPathTestKit"] + $1) }

// MARK: The package

let package = Package(
    name: "netpath",
    products: [
        "NetPath", "NetPathExplanation", "NetPathPluginKit", "NetPathNetlink", "NetPathSysfs", "NetPathTCPProbe",
        "NetPathHTTPProbe", "NetPathExec",
        "NetPathConfiguration",
        "NetPathStandard",
        "Reachability", "LinuxNetworkPath", "Network", "NetPathNetwork", "Connectivity",
        "ConnectivityNotifications", "NetPathHTTP", "NetPathCurl", "OfflineRequests", "NetPathCLI", "NetPathTestKit",
    ].map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "netpath", targets: ["NetPathCommand"]),
        .executable(name: "netpath-http", targets: ["HTTPCommand"]),
        .executable(name: "netpath-queue", targets: ["QueueCommand"]),
        .executable(name: "netpath-plugin", targets: ["PluginCommand"]),
        .executable(name: "netpath-serve", targets: ["ServeCommand"]),
    ],
    // Who depends on this package names the traits of the products it uses, or none: `traits: []`. Packages without the
    // trait that names them are not even fetched.
    traits: [
        .trait(name: "CommandLine", description: "NetPathCLI and the programs (swift-argument-parser)"),
        .trait(name: "OfflineRequests", description: "OfflineRequests and netpath-queue (GRDB.swift)"),
        .trait(name: "Server", description: "netpath-serve (swift-nio)"),
        .trait(name: "OpenCombine", description: "Combine publishers and an ObservableObject in Connectivity"),
        .default(enabledTraits: ["CommandLine", "OfflineRequests", "Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        systemLibraries, core, backends, coordinators, recording, applications, requests, programs, examples, testKit,
        support,
        tests,
    ].flatMap { $0 },
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    // Swift Evolution: 0335, 0409, 0444, 0461, 0470, 0481 and 0458.
    let features = [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
        "InferIsolatedConformances", "ImmutableWeakCaptures",
    ]
    target.swiftSettings = features.map { .enableUpcomingFeature($0) } + [.strictMemorySafety()]
    // Only in CI: a new compiler must never break somebody else's build.
    if Context.environment["NETPATH_CI"] != nil {
        target.swiftSettings? += [
            .treatAllWarnings(as: .error), .unsafeFlags(["-Xfrontend", "-require-explicit-sendable"]),
        ]
    }
}

// For the package in Fuzz/ alone: what reads bytes of others and is not for applications.
if Context.environment["NETPATH_FUZZ"] != nil {
    let targets = [
        "NetPathCLI", "NetPathConfiguration", "NetPathExec", "NetPathHTTPProbe", "NetPathNetlink", "NetPathRecording",
        "NetPathServe", "NetPathSysfs", "NetPathSystem", "OfflineRequests",
    ]
    package.products.append(.library(name: "Fuzzed", targets: targets))
}

// MARK: Targets that repeat

var grdb: Target.Dependency { product("GRDB", of: "GRDB.swift", trait: "OfflineRequests") }
var sqlite: Target.Dependency { product("GRDBSQLite", of: "GRDB.swift", trait: "OfflineRequests") }
var argumentParser: Target.Dependency { product("ArgumentParser", of: "swift-argument-parser", trait: "CommandLine") }

func nio(_ name: String) -> Target.Dependency { product(name, of: "swift-nio", trait: "Server") }

func product(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// Plugins/ is also SwiftPM's folder for package plugins, hence the path.
func backend(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: "NetPath\(name)", dependencies: ["NetPath", "NetPathSystem"] + dependencies, path: "Plugins/\(name)")
}

func program(
    _ name: String,
    _ dependencies: [Target.Dependency],
    in folder: String,
    without scripts: [String] = []
) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: folder, exclude: scripts)
}
