// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
package import NetPathSystem

/// Where and to whom `netpath serve` shows the path.
package struct ServeSettings: Hashable, Sendable {
    /// Where it listens.
    package var addresses: [ServeAddress] = [.usual]
    /// Names that browsers may use for it, besides addresses and `localhost`.
    package var allowedHosts: [String] = []
    /// Pages of other origins that may read it.
    package var allowedOrigins: [String] = []
    /// The addresses of proxies that speak TLS and whose headers are believed.
    package var trustedProxies: [String] = []
    /// The file with the token; nil where everybody may see everything who can connect.
    package var tokenFile: String?

    /// Whether the page shows the name of the machine.
    package var showsHostName = true

    /// Creates the settings that are in force unless a configuration says otherwise.
    package init() {}

    /// Reads the section `serve`.
    static func read(from root: ConfigurationSection) -> ServeSettings {
        let section = root.nested("serve")
        var settings = ServeSettings()
        func check(_ key: String, _ texts: [String], _ demand: String, _ isRight: (String) -> Bool) {
            for (index, text) in texts.enumerated() where !isRight(text) { section.reject(key, at: index, demand) }
        }
        let words = section.strings("listen", default: [ServeAddress.usual.description])
        settings.addresses = words.compactMap(ServeAddress.init)
        check("listen", words, "has to be an address and a port, or the absolute path of a socket") {
            ServeAddress($0) != nil
        }
        settings.allowedHosts = section.strings("allowedHosts").map { $0.lowercased() }
        // A request names a host with its port, which is not looked at, and anything else would never be what it names.
        check(
            "allowedHosts",
            settings.allowedHosts,
            "has to be the name of a host such as status.example, without a scheme or a port"
        ) { host in !host.isEmpty && !host.contains { ":/?#@* ".contains($0) } }
        settings.allowedOrigins = section.strings("allowedOrigins")
        check(
            "allowedOrigins",
            settings.allowedOrigins,
            "has to be an origin such as http://localhost:3000, and nothing behind it",
            Self.isOrigin
        )
        settings.trustedProxies = section.strings("trustedProxies")
        check("trustedProxies", settings.trustedProxies, "has to be an address") { InternetAddress($0) != nil }
        let file = section.string("tokenFile", default: "")
        if !file.isEmpty, !file.hasPrefix("/") { section.reject("tokenFile", "has to be an absolute path") }
        settings.tokenFile = file.isEmpty ? nil : file
        if settings.addresses.contains(where: { !$0.isLocal }),
            settings.tokenFile == nil || settings.trustedProxies.isEmpty
        {
            section.warn(
                "listen",
                "lets other machines ask, which 'netpath serve' refuses without a 'tokenFile', and 'trustedProxies' that "
                    + "speak TLS"
            )
        }
        settings.showsHostName = section.boolean("showHostName", default: true)
        return settings
    }

    /// A scheme, a host, and a port where it is not the usual one.
    private static func isOrigin(_ text: String) -> Bool {
        let rest = ["http://", "https://"].lazy.filter(text.hasPrefix).map { text.dropFirst($0.count) }.first ?? ""
        return !rest.isEmpty && !rest.contains { "/?#@* ".contains($0) }
    }
}
