// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A plain question leaves out what sends packets or starts programs; a service that runs has asked them all.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct AskingOnceTests {
    private let lab: NetworkNamespace
    private let environment: [String: String]
    private let configuration: String

    init() throws {
        let service = try ServiceLab()
        (self.lab, self.environment) = (service.lab, service.environment)
        let folder = self.lab.directory
        // A modem that is awake as soon as there is a file.
        let plugin = """
            echo "{\\"netpath\\":1,\\"name\\":\\"modem\\"}"; while :; do if [ -e \(folder)/awake ]; then s=satisfied; \
            else s=unsatisfied; fi; echo "{\\"conclusion\\":{\\"status\\":\\"$s\\",\\"reason\\":\\"the modem is $s\\"}}"; \
            sleep 0.2; done
            """
        self.configuration = try Watched.write(
            """
            backends:
              - {type: netlink}
              - {type: exec, name: modem, command: [/bin/sh, -c, '\(plugin)']}
              - {type: tcpProbe, targets: ["127.0.0.1:9"]}
            merge: {policy: unanimous}
            record: {enabled: false}

            """,
            in: self.lab
        )
    }

    private func ask(_ words: String, prefix: String = "", configuration: String? = nil) throws -> String {
        let file = configuration ?? self.configuration
        let variables = self.environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        let command = try "env \(variables) \(Watched.program) \(words) --config \(file)"
        return try self.lab.run("\(prefix) \(command) 2>&1; echo -n \"status $?\"")
    }

    /// Starts a service, and waits until the probe has an answer.
    private func startService(_ configuration: String) throws -> MonitorProcess {
        let service = try self.lab.start(
            Watched.program,
            ["run", "--config", configuration],
            environment: self.environment
        )
        try self.wait(for: #""internet":"reachable""#) { try self.ask("status --service --json") }
        return service
    }

    /// Starts a service, and waits until each backend has spoken.
    private func start() throws -> MonitorProcess {
        let service = try self.startService(self.configuration)
        try self.wait(for: "the modem is") { try self.ask("status --service --json") }
        return service
    }

    /// Asks again until an answer has a text: a service that takes longer than half a second counts as none.
    @discardableResult
    private func wait(for text: String, in answer: () throws -> String) throws -> String {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let answer = try answer()
            if answer.contains(text) { return answer }
            try #require(ContinuousClock.now < deadline, "no '\(text)' in: \(answer)")
        }
    }

    private func expectOwnAnswer(prefix: String = "", _ words: String = "") throws {
        let answer = try self.ask("status --json \(words)", prefix: prefix)
        #expect(answer.contains(#""name":"modem","mode":"active","health":"notAsked""#), "\(answer)")
        #expect(answer.contains(#""internet":"unknown""#))
    }

    @Test func withoutAServiceItSaysWhoWasNotAsked() throws {
        try self.expectOwnAnswer()
        let screen = try self.ask("")
        for line in ["Internet        not asked", "modem           not asked (use --probe)"] {
            #expect(screen.contains(line), "\(screen)")
        }
        #expect(screen.hasSuffix("status 0"))
        #expect(try self.ask("explain").contains("not asked (use --probe)"))
        #expect(try self.ask("wait").contains("; modem, tcpProbe: not asked (use --probe)"))
        let wait = try self.ask("wait --json")
        #expect(wait.contains(#""health":"notAsked""#), "\(wait)")
        #expect(try self.ask("status --quiet --probe").hasSuffix("status 1"))
        let check = try self.ask("config check")
        #expect(check.contains("ask these only with --probe, or through 'netpath run': modem, tcpProbe\n"))
        #expect(try self.ask("config check --json").contains(#""notAsked":["modem","tcpProbe"]"#))
    }

    @Test func aServiceHasEverybodysWord() throws {
        let service = try self.start()
        let answer = try self.wait(for: #""message":"the modem is unsatisfied""#) { try self.ask("status --json") }
        #expect(answer.contains(#""internet":"reachable""#))
        #expect(!answer.contains("notAsked"))
        try self.wait(for: "status 1") { try self.ask("status --quiet") }
        let explained = try self.wait(for: "the modem is unsatisfied") { try self.ask("explain") }
        #expect(explained.contains("127.0.0.1:9"), "\(explained)")
        try self.wait(for: "the modem is unsatisfied") { try self.ask("wait --timeout 0") }
        try self.wait(for: "met after") { try self.ask("wait --not --timeout 5s") }
        try self.wait(for: "the modem is unsatisfied") { try self.ask("wait --internet --timeout 1s") }
        // Another configuration, another network: the service knows nothing of them.
        try self.expectOwnAnswer("--set grace=7s")
        // No path depends on it.
        try self.wait(for: "status 1") { try self.ask("status --quiet --set logging.level=info") }
        #expect(try self.ask("status --json", prefix: "unshare -n").contains(#""health":"notAsked""#))
        #expect(try service.stop() == 0)
        try self.expectOwnAnswer()
    }

    /// What was "met after 1 ms" while the service said unsatisfied.
    @Test func aWaitFollowsTheService() throws {
        let service = try self.start()
        func startWait() throws -> MonitorProcess {
            let words = ["wait", "--config", self.configuration]
            return try self.lab.start(Watched.program, words, environment: self.environment)
        }
        var wait = try startWait()
        let deadline = ContinuousClock.now + .seconds(60)
        // It goes on for as long as the service says no, whatever its own backends see.
        while true {
            try self.wait(for: "status 3") { try self.ask("wait --timeout 1s --stable 1ms") }
            if wait.isRunning { break }
            // The service took longer than half a second to answer.
            try #require(ContinuousClock.now < deadline, "it does not go on")
            wait = try startWait()
        }
        try self.lab.run("touch \(self.lab.directory)/awake")
        #expect(try wait.nextText().hasPrefix("met after"))
        #expect(try service.stop() == 0)
    }

    /// An answer is never older than the network, though the service hears of a change a moment later.
    @Test func anAnswerIsAsNewAsTheNetwork() throws {
        try self.lab.run("touch \(self.lab.directory)/awake")
        let service = try self.start()
        try self.wait(for: "status 0") { try self.ask("status --quiet") }
        let program = try "\(Watched.program) status --quiet --config \(self.configuration)"
        let variables = self.environment.map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        let wrong = try self.lab.run(
            """
            for i in $(seq 20); do
                ip route del default; env \(variables) \(program); [ $? = 1 ] || echo "lost $i"
                ip route add default via 192.0.2.1; env \(variables) \(program); [ $? = 0 ] || echo "found $i"
            done
            """
        )
        // A service that stands still for a moment on a busy machine is one that lags.
        #expect(wrong.split(separator: "\n").count <= 4, "\(wrong)")
        #expect(try service.stop() == 0)
    }

    /// Where probes decide, a plain question sends them itself, unless a service has.
    @Test func aServiceSavesProbesThatDecide() throws {
        let required = try Watched.write(
            """
            backends: [{type: netlink}, {type: tcpProbe, targets: ["127.0.0.1:9"], interval: 24h}]
            merge: {probes: required}
            record: {enabled: false}

            """,
            in: self.lab
        )
        func connections() throws -> Int {
            let text = try self.lab.run("awk '/^Tcp: [0-9]/ { print $6 }' /proc/net/snmp")
            return try #require(Int(text.filter(\.isNumber)))
        }
        let service = try self.startService(required)
        for words in ["status --quiet", "explain", "wait --quiet"] {
            var growths: [Int] = []
            // Who gets no answer within half a second sends them itself.
            repeat {
                let before = try connections()
                #expect(try self.ask(words, configuration: required).hasSuffix("status 0"))
                growths.append(try connections() - before)
            } while growths.count < 3 && growths.min() != 0
            #expect(growths.min() == 0, "\(words): \(growths)")
        }
        #expect(try service.stop() == 0)
        let before = try connections()
        #expect(try self.ask("status --quiet", configuration: required).hasSuffix("status 0"))
        #expect(try connections() != before)
    }

    @Test func aServiceThatHangsHoldsUpNoQuestion() throws {
        let service = try self.start()
        service.sendSignal(.suspend)
        let began = ContinuousClock.now
        for _ in 0..<3 { try self.expectOwnAnswer() }
        // Half a second each, and what the machine is busy with besides.
        #expect(ContinuousClock.now - began < .seconds(10))
        service.sendSignal(.resume)
        #expect(try service.stop() == 0)
    }
}
