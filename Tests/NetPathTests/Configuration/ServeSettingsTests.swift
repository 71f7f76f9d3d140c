// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration
import NetPathSystem
import Testing

/// The section `serve` of a configuration.
struct ServeSettingsTests {
    private func settings(_ text: String) throws(ConfigurationError) -> ServeSettings {
        try LoadedConfiguration.parse(ConfigurationSource(name: "test", text: text)).serve
    }

    @Test func itIsLoopbackUnlessToldOtherwise() throws {
        #expect(try self.settings("serve: {}") == ServeSettings())
        #expect(try self.settings("serve: {}").addresses == [.internet(host: "127.0.0.1", port: 6387)])
        let settings = try self.settings(
            """
            serve:
              listen: ["[::1]:80", /run/netpath-serve/http.sock]
              allowedHosts: [Kiosk.Example]
              allowedOrigins: ["http://localhost:3000"]
              trustedProxies: [192.0.2.1, "2001:db8::1"]
              tokenFile: /etc/netpath/token
              showHostName: false
            """
        )
        #expect(settings.addresses == [.internet(host: "::1", port: 80), .unix("/run/netpath-serve/http.sock")])
        #expect(settings.allowedHosts == ["kiosk.example"])
        #expect(ServeSettings().showsHostName && !settings.showsHostName)
        #expect(settings.tokenFile == "/etc/netpath/token")
    }

    @Test(arguments: [
        "listen: [localhost:80]", "listen: [127.0.0.1]", "listen: [127.0.0.1:99999]", "listen: [run/socket]",
        "allowedOrigins: [localhost:3000]", "allowedOrigins: ['http://localhost:3000/']", "allowedOrigins: ['*']",
        "allowedHosts: ['http://x']", "allowedHosts: [a b]", "allowedHosts: ['status.example:80']",
        "allowedHosts: ['']", "allowedHosts: [x/y]", "allowedHosts: ['*.example']",
        "allowedOrigins: ['http://*.example']", "trustedProxies: [proxy.example]", "tokenFile: token", "token: secret",
    ])
    func whatIsWrongHasAPlace(_ line: String) throws {
        #expect(throws: ConfigurationError.self) { try self.settings("serve:\n  \(line)\n") }
    }

    @Test func addressesAreRead() {
        #expect(ServeAddress("127.0.0.1:6387")?.description == "127.0.0.1:6387")
        #expect(ServeAddress("[::1]:6387")?.description == "[::1]:6387")
        #expect(ServeAddress("127.0.0.1:6387")?.isLocal == true && ServeAddress("0.0.0.0:80")?.isLocal == false)
        #expect(ServeAddress("::1:80") == nil && ServeAddress("example.org:80") == nil && ServeAddress("") == nil)
    }
}
