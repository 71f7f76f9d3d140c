// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

/// Proxies, interfaces and TLS.
@Suite struct ConnectionTests {
    @Test func aProxyGetsTheWholeAddress() async throws {
        let lab = try LabHost()
        let transport = CurlTransport(proxy: lab.url(""))
        let response = try await transport.send(TransportRequest(url: "http://example.invalid/a", timeouts: .test))
        #expect(response.status == 404)
        #expect(try await lab.events(on: "http://example.invalid/a").count == 1)
    }

    @Test func theProxyOfTheEnvironmentIsUsed() async throws {
        let lab = try LabHost()
        let line = try Scenario.run(["get", "http://example.invalid/b"], environment: ["http_proxy": lab.url("")])
        #expect(line["status"] == 404)
        #expect(try await lab.events(on: "http://example.invalid/b").count == 1)
    }

    @Test func aProxyThatMakesNoTunnelGetsNothingOfTheRequest() async throws {
        let lab = try LabHost()
        let transport = CurlTransport(proxy: lab.url(""))
        let request = TransportRequest(
            method: "POST",
            url: "https://example.invalid/",
            body: .bytes([1]),
            timeouts: .test
        )
        let error = await transport.failure(request)
        #expect(error != nil)
        #expect(error?.progress == .notSent, "\(error?.message ?? "no error")")
    }

    @Test func noConnectionOutlivesItsPath() async throws {
        let lab = try LabHost()
        let transport = CurlTransport(proxy: "")
        // Without anything to do there is nothing to forget.
        transport.pathChanged()
        let request = TransportRequest(url: lab.url("/ok"), timeouts: .test)
        _ = await transport.sendInTurn([request, request])
        transport.pathChanged()
        // Within the two seconds in which libcurl cannot tell the old ones from the new ones, and after them.
        _ = try await transport.send(request)
        try await Task.sleep(for: .milliseconds(2100))
        _ = await transport.sendInTurn([request, request, request])
        let connections = try await lab.events(on: "/ok").compactMap { $0["connection"]?.number }
        #expect(connections.count == 6)
        #expect(connections[0] == connections[1])
        #expect(connections[2] != connections[0])
        #expect(!connections[3...].contains(connections[0]))
        // The new ones are kept as the old ones were.
        #expect(Set(connections[3...]).count == 1)
    }

    @Test func aRequestLeavesThroughTheGivenInterface() async throws {
        let lab = try LabHost()
        let transport = CurlTransport(proxy: "")
        let request = TransportRequest(url: lab.url("/ok"), timeouts: .test, interface: "lo")
        #expect(try await transport.send(request).status == 200)
    }

    @Test func whatIsNotTLSIsNotSent() async throws {
        // It answers the greeting of TLS with HTTP, because of the line that the greeting is not.
        let lab = try LabHost()
        let transport = CurlTransport(proxy: "")
        let url = lab.url("/bytes?n=1").replacing("http:", with: "https:")
        let timeouts = TransportRequest.Timeouts(connect: .milliseconds(300), total: .seconds(20))
        let error = await transport.failure(TransportRequest(method: "POST", url: url, timeouts: timeouts))
        #expect(error?.progress == .notSent)
    }

    @Test(.enabled(if: TLSServer.isAvailableOrRequired, "openssl is not installed"))
    func certificatesAreVerified() async throws {
        let server = try TLSServer()
        func failure(_ transport: CurlTransport, _ host: String) async -> TransportError? {
            await transport.failure(TransportRequest(url: "https://\(host):\(server.port)/", timeouts: .test))
        }
        let trusting = CurlTransport(certificateAuthority: server.authority, proxy: "")
        #expect(await failure(trusting, "127.0.0.1") == nil)
        let mismatch = await failure(trusting, "localhost")
        #expect(mismatch?.reason == .tls, "\(mismatch?.message ?? "no error")")
        #expect(mismatch?.progress == .notSent)
        let unknown = await failure(CurlTransport(proxy: ""), "127.0.0.1")
        #expect(unknown?.reason == .tls, "\(unknown?.message ?? "no error")")
        #expect(unknown?.progress == .notSent)
        let missing = await failure(CurlTransport(certificateAuthority: "/nonexistent", proxy: ""), "127.0.0.1")
        #expect(missing?.reason == .tls)
        #expect(missing?.progress == .notSent)
    }
}
