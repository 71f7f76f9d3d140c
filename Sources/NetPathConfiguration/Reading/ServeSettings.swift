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
        settings.addresses = []
        let words = section.strings("listen", default: [ServeAddress.usual.description])
        for (index, word) in words.enumerated() {
            if let address = ServeAddress(word) {
                settings.addresses.append(address)
            } else {
                section.reject("listen", at: index, "has to be an address and a port, or the absolute path of a socket")
            }
        }
        settings.allowedHosts = section.strings("allowedHosts").map { $0.lowercased() }
        // A request names a host with its port, which is not looked at, and anything else would never be what it names.
        for (index, host) in settings.allowedHosts.enumerated()
        where host.isEmpty || host.contains(where: { ":/?#@* ".contains($0) }) {
            section.reject(
                "allowedHosts",
                at: index,
                "has to be the name of a host such as status.example, without a scheme or a port"
            )
        }
        settings.allowedOrigins = section.strings("allowedOrigins")
        for (index, origin) in settings.allowedOrigins.enumerated() where !Self.isOrigin(origin) {
            section.reject(
                "allowedOrigins",
                at: index,
                "has to be an origin such as http://localhost:3000, and nothing behind it"
            )
        }
        settings.trustedProxies = section.strings("trustedProxies")
        for (index, proxy) in settings.trustedProxies.enumerated() where InternetAddress(proxy) == nil {
            section.reject("trustedProxies", at: index, "has to be an address")
        }
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
