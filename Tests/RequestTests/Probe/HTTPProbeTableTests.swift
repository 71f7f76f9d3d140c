// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathCurl
import NetPathHTTP
import NetPathTestKit
import Testing

@testable import NetPathHTTPProbe

/// The probe and the checks of others on the same answers of a real server: right wherever one of them is.
///
/// What NetworkManager says is computed from its rules; `Benchmarks/HTTPProbe/networkmanager` has NetworkManager say it
/// itself.
@Suite(.timeLimit(.minutes(5))) struct HTTPProbeTableTests {
    /// A case of plain HTTP: the path on the lab's server, what is expected of it, and what is true.
    struct Plain: Sendable, CustomTestStringConvertible {
        var name: String
        var path: String
        var truth: Truth
        var internet: InternetReachability
        var networkManager: Rivals.NetworkManager
        var body: String?
        var portalURL: String?

        var testDescription: String { self.name }
    }

    static let table: [Plain] = [
        Plain(name: "204", path: "/status/204", truth: .internet, internet: .reachable, networkManager: .full),
        Plain(name: "200, empty", path: "/echo", truth: .internet, internet: .reachable, networkManager: .full),
        Plain(
            name: "the body",
            path: "/ok",
            truth: .internet,
            internet: .reachable,
            networkManager: .full,
            body: "ok"
        ),
        Plain(
            name: "a page in place of 204",
            path: "/ok",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "/ok"
        ),
        Plain(
            name: "another body",
            path: "/ok",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            body: "online",
            portalURL: "/ok"
        ),
        Plain(
            name: "a redirect",
            path: "/status/302?location=http://portal.example/in",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "http://portal.example/in"
        ),
        Plain(
            name: "a redirect (307)",
            path: "/status/307?location=https://portal.example/",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "https://portal.example/"
        ),
        Plain(
            name: "a redirect below",
            path: "/status/302?location=/in",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "/in"
        ),
        Plain(
            name: "511",
            path: "/status/511",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "/status/511"
        ),
        Plain(
            name: "a page that does not end",
            path: "/bytes?n=200000",
            truth: .portal,
            internet: .portal,
            networkManager: .portal,
            portalURL: "/bytes?n=200000"
        ),
        // NetworkManager takes a server that is broken for a portal.
        Plain(name: "503", path: "/status/503", truth: .fault, internet: .unknown, networkManager: .portal),
        Plain(name: "404", path: "/status/404", truth: .fault, internet: .unknown, networkManager: .portal),
        Plain(
            name: "the server's own https",
            path: "/status/301?location=https://127.0.0.1/x",
            truth: .fault,
            internet: .unknown,
            networkManager: .portal
        ),
        Plain(
            name: "a reset",
            path: "/reset",
            truth: .nothing,
            internet: .unreachable,
            networkManager: .limited
        ),
        Plain(
            name: "no answer",
            path: "/stall-response",
            truth: .nothing,
            internet: .unreachable,
            networkManager: .limited
        ),
    ]

    @Test(arguments: Self.table)
    func isRightWhereOneOfThemIs(_ row: Plain) async throws {
        let lab = try LabHost()
        let status = row.body == nil ? 204 : 200
        let check = HTTPCheck(url: lab.url(row.path), status: status, body: row.body)
        // Only what no answer comes to is waited for in vain.
        let timeout: Duration = row.name == "no answer" ? .seconds(1) : .seconds(20)
        let round = try await Self.round([check], timeout: timeout)
        #expect(round.internetAlone == row.internet, "\(round)")
        let url = row.portalURL.map { $0.hasPrefix("/") ? lab.url($0) : $0 }
        #expect(round.portalURL == url)

        var request = TransportRequest(url: check.url)
        request.timeouts.total = timeout
        request.timeouts.connect = timeout
        // It stops reading at 100 KiB, having seen enough.
        let isLong = row.path.hasPrefix("/bytes")
        request.responseLimit = 1 << 20
        let result: Result<TransportResponse, TransportError>
        do throws(TransportError) { result = .success(try await CurlTransport(proxy: "").send(request)) } catch {
            result = .failure(error)
        }
        let rival = Rivals.networkManager(result, to: check)
        #expect(rival == row.networkManager || isLong && rival == .portal, "computed from NetworkManager's rules")
        let isRight = row.truth.isTold(by: round.internetAlone)
        #expect(isRight || !rival.tells(row.truth), "NetworkManager is right, and the probe is not")
        let qt = Rivals.qt(rival)
        #expect(qt.isBehindCaptivePortal == (rival == .portal) && qt.isOnline == (rival == .full))
        #expect(isRight, "\(round)")
    }

    /// One round of the monitor itself.
    static func round(
        _ checks: [HTTPCheck],
        portalAPI: String? = nil,
        timeout: Duration = .seconds(20),
        transport: CurlTransport = CurlTransport(proxy: "")
    ) async throws -> (ProbeRound) {
        try await self.evidence(checks, portalAPI: portalAPI, timeout: timeout, transport: transport).probes
            ?? ProbeRound(
                outcomes: [],
                isComplete: false
            )
    }

    static func evidence(
        _ checks: [HTTPCheck],
        portalAPI: String? = nil,
        timeout: Duration = .seconds(20),
        transport: CurlTransport = CurlTransport(proxy: "")
    ) async throws -> Evidence {
        var options = HTTPProbeMonitor.Options(checks: checks)
        options.timeout = timeout
        options.portalAPI = portalAPI
        let run = BackendRun(HTTPProbeMonitor(options, transport: transport))
        let evidence = try await run.waitForEvidence { $0.probes?.isComplete == true }
        try await run.stop()
        return evidence
    }
}

extension ProbeRound {
    /// What `NetworkPath.internet` is where nobody else probes.
    var internetAlone: InternetReachability {
        var evidence = Evidence(at: MonotonicTime(nanoseconds: 0))
        evidence.probes = self
        var kernel = BackendSnapshot(report: BackendReport(name: "kernel"))
        kernel.evidence = Evidence(at: MonotonicTime(nanoseconds: 0))
        kernel.verdict = Verdict(.satisfied, PathReason(.routed, ""))
        kernel.report.status = .satisfied
        let probe = BackendSnapshot(report: BackendReport(name: "probe"), evidence: evidence)
        return NetworkPath.merging([kernel, probe], policy: .priority)?.internet ?? .unknown
    }
}
