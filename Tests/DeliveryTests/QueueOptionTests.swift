// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// What the words of `netpath send` and `netpath queue` do, against a real server.
@Suite(.needsCommandLab)
struct QueueOptionTests {
    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    private func contentType(_ id: String) throws -> String? {
        let shown = try #require(try self.tool.run("queue", "show", id, "--json").documents.first)
        guard case .array(let headers)? = shown["headers"] else { return nil }
        return headers.first { $0["name"]?.string == "Content-Type" }?["value"]?.string
    }

    // MARK: send

    @Test func dataIsPutTogetherAsWithCurl() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let folder = self.tool.lab.directory
        try Data("from=file&\n".utf8).write(to: URL(filePath: "\(folder)/part"))
        func echo(_ words: String..., input: String = "") throws -> String {
            try self.tool.run(["send", "--wait", QueueTool.origin + "/echo"] + words, input: input).output
        }
        #expect(try echo("-d", "a=1", "-d", "b=2") == "a=1&b=2")
        #expect(try echo("-d", "a=1", "-d", "@\(folder)/part", "-d", "-", input: "in=put") == "a=1&from=file&\n&in=put")
        #expect(try echo("-d", "@-", input: "in") == "in")
        #expect(try echo("--data-urlencode", "q=1 & ü") == "q=1%20%26%20%C3%BC")
        #expect(
            try echo(
                "-d",
                "a=1",
                "--data-urlencode",
                "=x=y",
                "--data-urlencode",
                "a b",
                "--data-urlencode",
                "f@\(folder)/part"
            )
                == "a=1&x%3Dy&a%20b&f=from%3Dfile%26%0A"
        )
        #expect(try self.tool.run("send", "-d", "-", "-d", "@-", QueueTool.origin + "/echo").status == 64)
    }

    @Test func aSlowAnswerIsWaitedForAndALongOneIsCut() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let words = ["send", "--wait", "--max-retries", "0", "--max-response"]
        let slow = try self.tool.run(words + ["1K", "--stall-time", "300ms", QueueTool.origin + "/slow?ms=2000"])
        #expect(slow.output == "ok\n", "\(slow.errors)")
        #expect(slow.errors == "")
        let long = try self.tool.run(words + ["1K", "-d", "x", QueueTool.origin + "/drip?n=3000&ms=0"])
        #expect(long.status == 0, "\(long.errors)")
        #expect(long.output == String(repeating: ".", count: 1024))
        #expect(long.errors.contains("was delivered; the response is cut after 1024 bytes"), "\(long.errors)")
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 0)
        let json = try self.tool.run(words + ["2", "--json", QueueTool.origin + "/ok?id=1"])
        #expect(try json.documents.first?["response"]?["isCut"]?.bool == true)
        for size in ["1X", "-1", "", "K", "9223372036854775807G"] {
            #expect(try self.tool.run(words + ["\(size)", QueueTool.origin + "/ok"]).status == 64, "\(size)")
        }
    }

    @Test func headersComeFromFilesAsWithCurl() throws {
        let folder = self.tool.lab.directory
        try Data("Authorization: Bearer s3cr3t\r\n\nX-Two: 2\n".utf8).write(to: URL(filePath: "\(folder)/head"))
        try Data("s3cr3t".utf8).write(to: URL(filePath: "\(folder)/bad"))
        let id = try self.tool.send("-H", "@\(folder)/head", "-H", "X-One: 1")
        let shown = try self.tool.run("queue", "show", "--show-secrets", id)
        for line in ["Authorization: Bearer s3cr3t", "X-Two: 2", "X-One: 1"] {
            #expect(shown.output.contains(line), "\(shown)")
        }
        try Data("Authorization: Bearer another\n".utf8).write(to: URL(filePath: "\(folder)/head"))
        #expect(try self.tool.run("queue", "retry", id, "-H", "@\(folder)/head").status == 0)
        #expect(try self.tool.run("queue", "show", "--show-secrets", id).output.contains("Bearer another"))
        let bad = try self.tool.run("send", "-H", "@\(folder)/bad", QueueTool.origin + "/ok")
        #expect(bad.status == 64)
        #expect(bad.errors.contains("line 1 of \(folder)/bad") && !bad.errors.contains("s3cr3t"), "\(bad.errors)")
        for option in ["-H", "--data-urlencode", "--data"] {
            let missing = try self.tool.run(["send", option, "@\(folder)/none", QueueTool.origin + "/ok"])
            #expect(missing.status == 64)
            #expect(missing.errors.contains("\(folder)/none"))
            #expect(missing.errors.contains("No such file or directory"), "\(missing.errors)")
        }
        // Nothing of it stays once it is cancelled, whichever command did that.
        #expect(try self.tool.run("queue", "cancel", "--all").status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("queue.sqlite") {
            let content = (try? Data(contentsOf: URL(filePath: "\(folder)/\(name)"))) ?? Data()
            #expect(content.firstRange(of: Data("Bearer".utf8)) == nil, "\(name)")
        }
    }

    @Test func dataHasTheTypeThatCurlGivesIt() throws {
        #expect(try self.contentType(self.tool.send("-d", "a=1")) == "application/x-www-form-urlencoded")
        #expect(try self.contentType(self.tool.send("--data-urlencode", "a=1")) == "application/x-www-form-urlencoded")
        #expect(try self.contentType(self.tool.send("-d", "{}", "-H", "content-type: x/y", "-H", "A: b")) == nil)
        #expect(try self.contentType(self.tool.send("-d", "{}", "-H", "Content-Type:")) == nil)
        #expect(try self.contentType(self.tool.send()) == nil)
    }

    @Test(arguments: ["0s", "0", "-1s"])
    func whatWouldNeverBeSentIsRefused(_ duration: String) throws {
        #expect(try self.tool.run("send", "--expires-in=\(duration)", QueueTool.origin + "/ok").status == 64)
    }

    @Test func onlyTheGivenAuthoritiesAreTrusted() throws {
        let folder = self.tool.lab.directory
        // The system trusts the authority of the server, in a folder of authorities that only this host has.
        try self.tool.lab.run(
            """
            cd \(folder) && ip link set lo up
            for name in mine other; do
              openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$name -keyout $name.key -out $name.pem
            done 2>/dev/null
            printf 'subjectAltName=IP:127.0.0.1\\nbasicConstraints=CA:FALSE\\n' >extensions
            openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout server.key -out server.csr 2>/dev/null
            openssl x509 -req -in server.csr -CA mine.pem -CAkey mine.key -CAcreateserial -days 2 \
              -extfile extensions -out server.pem 2>/dev/null
            mount -t tmpfs none /etc/ssl/certs && cp mine.pem /etc/ssl/certs &&
              cp other.pem /etc/ssl/certs/ca-certificates.crt && openssl rehash /etc/ssl/certs
            mkdir trusted && cp mine.pem trusted && openssl rehash trusted
            """
        )
        let server = try self.tool.lab.start(
            "openssl",
            [
                "s_server", "-accept", "127.0.0.1:4433", "-www", "-cert", "\(folder)/server.pem", "-key",
                "\(folder)/server.key",
            ]
        )
        while try !server.nextText().contains("ACCEPT") {}
        func send(_ words: String...) throws -> QueueTool.Result {
            try self.tool.run(["send", "--wait", "--timeout", "10s", "https://127.0.0.1:4433/"] + words)
        }
        #expect(try send().status == 0)
        #expect(try send("--cacert", "\(folder)/mine.pem").status == 0)
        #expect(try send("--capath", "\(folder)/trusted").status == 0)
        let refused = try send("--cacert", "\(folder)/other.pem")
        #expect(refused.status == 3, "\(refused)")
        #expect(try self.tool.run("queue", "cancel", "--all").status == 0)
        #expect(try send("--cacert", "/nowhere").status == 64)
        #expect(try send("--cacert", "\(folder)/mine.key").status == 64)
        #expect(try self.tool.run("send", "--cacert", "\(folder)/mine.pem", "https://127.0.0.1:4433/").status == 64)
        _ = try server.stop()
    }

    // MARK: queue

    @Test func retryOfAllCountsAndSendsOnce() throws {
        let server = try self.tool.serve()
        // Some are held again by the time that the last of them would be counted.
        let count = 16
        for number in 0..<count {
            try self.tool.send("-d", "x", "--key", "lane\(number)", path: "/status/400?id=\(number)")
        }
        let run = try self.tool.start("queue", "run", "--json")
        for _ in 0..<count { try run.next { $0["event"] == "held" } }
        let retried = try self.tool.run("queue", "retry", "--all", "--json").documents.first?["retried"]?.number
        #expect(retried == Double(count))
        for _ in 0..<count { try run.next { $0["event"] == "held" } }
        // What comes after it says that nothing else came before.
        try self.tool.send("-d", "last")
        try run.next { $0["event"] == "succeeded" }
        #expect(try server.bodies(2 * count + 1) == Array(repeating: "x", count: 2 * count) + ["last"])
        #expect(try run.stop(signal: .terminate) == 0)
    }

    @Test func heldRequestGetsNewCredentials() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let id = try self.tool.send("-d", "x", "-H", "Authorization: old", path: "/status/401?id=a")
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue").output.contains("netpath queue retry \(id) -H"))
        #expect(try self.tool.run("queue", "retry", id, "-H", "authorization: new", "-H", "A: b").status == 0)
        let shown = try self.tool.run("queue", "show", id, "--json", "--show-secrets").output
        #expect(shown.contains("\"new\"") && !shown.contains("\"old\""), "\(shown)")
        #expect(shown.contains("application/x-www-form-urlencoded"))
        #expect(try self.tool.run("queue", "retry", id, "-H", "Bad name: x").status == 64)
        #expect(try self.tool.run("queue", "retry", "-H", "A: b").status == 64)
        // It can still be read, and nothing was counted wrongly.
        #expect(try self.tool.run("queue", "repair").status == 0)
    }

    @Test func oneOfThoseThatWereGivenUpIsForgotten() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let ids = try (0..<2).map { try self.tool.send("-d", "x", path: "/status/400?id=\($0)") }
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue", "dead", "purge", ids[0]).output == "1 request removed\n")
        #expect(try self.tool.run("queue", "dead", "--json").documents.map { $0["id"]?.string } == [ids[1]])
        #expect(try self.tool.run("queue", "dead", "purge", ids[0]).status == 1)
    }

    @Test func timesHaveDates() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        try self.tool.send("-d", "x", path: "/status/503?retry-after=3600")
        let run = try self.tool.start("queue", "run", "--until-empty")
        var line = ""
        while !line.contains("backoff") { line = try run.nextText() }
        #expect(
            line.contains(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+  backoff .* not before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/)
        )
        try run.stop()
    }

    @Test func metricsOfAQueue() throws {
        let file = "\(self.tool.lab.directory)/queue.prom"
        func metrics() throws -> [String: Double] {
            #expect(try self.tool.run("queue", "stats", "--textfile", file).status == 0)
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            let samples = lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
            return try Dictionary(uniqueKeysWithValues: samples.map { (String($0[0]), try #require(Double($0[1]))) })
        }
        let ids = try [self.tool.send("-d", "x"), self.tool.send("-d", "y")]
        let user = "{user=\"\(NSUserName())\"}"
        let waiting = try metrics()
        // For a collector that is another user, whatever the umask.
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o644)
        #expect(waiting.keys.allSatisfy { $0.contains("user=\"\(NSUserName())\"") })
        #expect(waiting.filter { $0.key.hasPrefix("netpath_queue_requests") }.values.reduce(0, +) == 2)
        #expect(try #require(waiting["netpath_queue_oldest_age_seconds\(user)"]) > 0)
        #expect(try #require(waiting["netpath_queue_bytes\(user)"]) >= 2)
        for id in ids { #expect(try self.tool.run("queue", "cancel", id).status == 0) }
        let empty = try metrics()
        #expect(empty.filter { $0.key.hasPrefix("netpath_queue_requests") }.values.reduce(0, +) == 0)
        #expect(empty["netpath_queue_oldest_age_seconds\(user)"] == nil)
        #expect(try self.tool.run("queue", "stats", "--textfile", "/proc/nowhere").status == 70)
    }

    // MARK: Why it waits

    @Test func aPausedQueueSaysSo() throws {
        try self.tool.send("-d", "x")
        #expect(try self.tool.run("queue", "pause").status == 0)
        #expect(try self.tool.run("queue", "--json").documents.first?["waiting"]?["code"]?.string == "paused")
        #expect(try self.tool.run("queue", "stats").output.contains("PAUSED"))
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["paused"]?.bool == true)
        let run = try self.tool.run("queue", "run", "--until-empty")
        #expect(run.status == 1)
        #expect(run.errors.contains("the queue is paused"), "\(run.errors)")
        #expect(run.errors.contains("queue resume"))
    }

    @Test func whatHasExpiredSaysSoBeforeItIsGivenUp() throws {
        try self.tool.send("--expires-in", "1s", "-d", "x")
        let deadline = ContinuousClock.now + .seconds(60)
        var last: String?
        while last != "expired", .now < deadline {
            last = try self.tool.run("queue", "--json").documents.first?["waiting"]?["code"]?.string
        }
        #expect(last == "expired")
        #expect(try self.tool.run("queue").output.contains("netpath queue run"))
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 1)
        #expect(try self.tool.run("queue", "--json").documents.isEmpty)
    }

    /// What hinders the process that sends, seen from another.
    @Test func theReasonIsThatOfTheRequest() throws {
        try self.tool.send("-d", "x")
        func awaitReason(_ code: String, _ change: String) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            var last: String?
            while last != code, .now < deadline {
                last = try self.tool.run("queue", "--json").documents.first?["waiting"]?["code"]?.string
            }
            #expect(last == code, "\(change)")
        }
        try self.tool.lab.run("ip link set wan0 down")
        let run = try self.tool.start("queue", "run", "--json")
        try awaitReason("noPath", "without a link")
        try self.tool.lab.run("ip link set wan0 up; ip route replace default via 192.0.2.1")
        // Nobody listens there yet.
        try awaitReason("hostPaused", "without a server")
        // An attempt may be under way again whenever it is asked.
        let reason = "was not reached or failed, and is left alone until 20"
        let deadline = ContinuousClock.now + .seconds(60)
        var output = ""
        while !output.contains(reason), .now < deadline { output = try self.tool.run("queue").output }
        #expect(output.contains(reason), "\(output)")
        #expect(try run.stop(signal: .terminate) == 0)
        try awaitReason("notRunning", "without a sender")
    }
}
