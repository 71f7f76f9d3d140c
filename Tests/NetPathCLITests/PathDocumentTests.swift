// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

@Suite struct PathDocumentTests {
    @Test func satisfied() {
        let expected =
            #"{"schema":1,"status":"satisfied","reason":{"code":"routed","message":"IPv4 through eth0"},"statedBy":null,"#
            + #""stale":false,"interfaces":[{"name":"eth0","index":2,"type":"wired","kind":null,"reason":{"code":"routed","#
            + #""message":"eth0 carries the path"},"operationalState":"up","addresses":["192.0.2.7/24"],"#
            + #""gateways":["192.0.2.1"],"metric":100,"table":254,"underlying":null,"families":["ipv4"],"labels":[]}],"carriedBy":null,"#
            + #""gateways":[{"address":"192.0.2.1","interface":2,"answers":null}],"dnsServers":["192.0.2.53"],"#
            + #""nameServers":[{"address":"192.0.2.53","reachable":null}],"supportsIPv4":true,"#
            + #""supportsIPv6":false,"supportsDNS":true,"isExpensive":false,"isConstrained":false,"#
            + #""internet":"unknown","portalURL":null,"probes":[],"backends":[{"name":"netlink","mode":"active","health":"healthy","#
            + #""status":"satisfied","reason":{"code":"routed","message":"IPv4 through eth0"},"stated":false,"#
            + #""host":null,"error":null,"ageMilliseconds":12,"limitations":[],"restarts":0,"resynchronizations":0}],"disagreements":[],"#
            + #""via":[],"sequence":7,"time":"2026-10-21T12:31:46.123Z"}"#
        #expect(Fixtures.snapshot(Fixtures.routed, sequence: 7).document.line == expected)
    }

    @Test func withoutOpinion() {
        let expected =
            #"{"schema":1,"status":null,"reason":null,"statedBy":null,"stale":false,"interfaces":[],"carriedBy":null,"gateways":[],"#
            + #""dnsServers":null,"nameServers":null,"supportsIPv4":null,"supportsIPv6":null,"supportsDNS":null,"isExpensive":null,"#
            + #""isConstrained":null,"internet":"unknown","portalURL":null,"probes":[],"backends":[{"name":"netlink","mode":"active","#
            + #""health":"unhealthy","status":null,"reason":null,"stated":false,"host":null,"#
            + #""error":"no netlink socket: Operation not permitted","ageMilliseconds":null,"limitations":[],"#
            + #""restarts":0,"resynchronizations":0},{"name":"spare","mode":"off","health":"off","status":null,"#
            + #""reason":null,"stated":false,"host":null,"error":null,"ageMilliseconds":null,"limitations":[],"restarts":0,"#
            + #""resynchronizations":0}],"disagreements":[],"via":[],"sequence":null,"time":"2026-10-21T12:31:46.123Z"}"#
        #expect(Fixtures.unknown.document.line == expected)
    }

    @Test func probesAndDisagreements() {
        var probing = Evidence(at: Fixtures.now)
        probing.probes = ProbeRound(
            outcomes: [
                ProbeOutcome(target: "a:1", result: .connected, roundTrip: .microseconds(1_234)),
                ProbeOutcome(target: "b:2", result: .unreachable(errno: 113)),
                ProbeOutcome(target: "c:3", result: .timedOut),
            ],
            isComplete: true
        )
        let blind = Fixtures.evidence([Fixtures.interface(gateway: nil)], ipv4: .noRoute)
        let line = Fixtures.snapshot([
            Fixtures.backendSnapshot(Fixtures.routed), Fixtures.backendSnapshot(blind, by: "other"),
            Fixtures.backendSnapshot(probing, by: "probe"),
        ]).document.line
        let probes =
            #""internet":"reachable","portalURL":null,"probes":[{"target":"a:1","outcome":"connected","errno":null,"#
            + #""rttMicroseconds":1234,"detail":null},{"target":"b:2","outcome":"unreachable","errno":113,"#
            + #""rttMicroseconds":null,"detail":null},{"target":"c:3","outcome":"timedOut","errno":null,"#
            + #""rttMicroseconds":null,"detail":null}]"#
        #expect(line.contains(probes))
        #expect(
            line.contains(#""disagreements":[{"backend":"other","status":"unsatisfied","reason":{"code":"noRoute","#)
        )
    }

    /// Not to know the name servers is not the same as to have none.
    @Test func nameServers() {
        var evidence = Fixtures.routed
        evidence.dnsServers = nil
        #expect(Fixtures.snapshot(evidence).document.line.contains(#""dnsServers":null"#))
        #expect(Fixtures.snapshot(evidence).document.line.contains(#""supportsDNS":null"#))
        evidence.dnsServers = []
        #expect(Fixtures.snapshot(evidence).document.line.contains(#""dnsServers":[]"#))
        #expect(Fixtures.snapshot(evidence).document.line.contains(#""supportsDNS":false"#))
    }

    @Test func nameServersOutOfReach() {
        var evidence = Fixtures.routed
        evidence.dnsServers?.append(DNSServer(Fixtures.address("fe80::1"), zone: "eth0"))
        evidence.dnsRoutes = [Fixtures.route(), .noRoute]
        let line = Fixtures.snapshot(evidence).document.line
        let expected =
            #""nameServers":[{"address":"192.0.2.53","reachable":true},{"address":"fe80::1%eth0","reachable":false}]"#
        #expect(line.contains(expected))
        #expect(line.contains(#""supportsDNS":true"#))
        evidence.dnsRoutes = [.noRoute, .noRoute]
        #expect(Fixtures.snapshot(evidence).document.line.contains(#""supportsDNS":false"#))
    }

    @Test func timeIsThatOfThePublication() {
        var snapshot = Fixtures.snapshot(Fixtures.routed)
        snapshot.path?.publishedAt = Fixtures.now + .milliseconds(-1_500)
        #expect(snapshot.time.rfc3339 == "2026-10-21T12:31:44.623Z")
    }
}
