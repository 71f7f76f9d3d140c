// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import GRDB
import NetPathTestKit
import Testing

/// The commands that only look: what they show, what they do not, and that they change nothing.
@Suite(.needsCommandLab)
struct QueueLookTests {
    private static let looks = [["list"], ["stats"], ["dead"], ["responses"], ["show", UUID().uuidString]]

    private let tool: QueueTool

    init() throws {
        self.tool = try QueueTool()
    }

    private func names() throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: self.tool.lab.directory).filter { $0.contains("queue") }
        )
    }

    /// Overwrites the page of the file that a text is in.
    ///
    /// - Returns: What the file is now.
    @discardableResult
    private func overwritePage(with text: String) throws -> Data {
        // What is in the journal counts, and not what is in the file.
        let database = try DatabaseQueue(path: self.tool.file)
        try database.inDatabase { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
            _ = try db.checkpoint(.truncate)
        }
        try database.close()
        let url = URL(filePath: self.tool.file)
        var file = try Data(contentsOf: url)
        let place = try #require(file.firstRange(of: Data(text.utf8))).lowerBound / 2048 * 2048
        file.replaceSubrange(place..<(place + 2048), with: Data(repeating: 0xFF, count: 2048))
        try file.write(to: url)
        return file
    }

    @Test(arguments: looks + [["cancel", "--all"], ["retry", "--all"], ["dead", "purge"], ["repair"]])
    func aFileThatWasMistypedIsNotMade(_ words: [String]) throws {
        let result = try self.tool.run(["queue"] + words)
        #expect(result.status == 70, "\(result)")
        #expect(result.errors.contains("no queue here"), "\(result.errors)")
        #expect(result.output == "")
        #expect(try self.names() == [])
    }

    @Test func theUsualFileIsNotMadeEither() throws {
        let share = "\(self.tool.lab.directory)/share"
        let program = try QueueTool.quoted([QueueTool.program])
        let output = try self.tool.lab.run(
            """
            export XDG_DATA_HOME=\(share)
            \(program) queue; echo $?; \(program) queue stats --json; echo $?; ls \(share) 2>/dev/null; true
            """
        )
        #expect(output.hasPrefix("Nothing waits.\n0\n"), "\(output)")
        #expect(output.contains("\"pending\":0"), "\(output)")
        #expect(output.hasSuffix("}\n0\n"), "\(output)")
    }

    @Test func damageIsSaidAndOnlyRepairedOnRequest() throws {
        let program = try QueueTool.quoted([QueueTool.program, "send", "--queue", self.tool.file])
        try self.tool.lab.run(
            """
            head -c 1200 /dev/zero | tr '\\0' x >\(self.tool.lab.directory)/body
            for i in $(seq 40); do \(program) -d "$i-$(cat \(self.tool.lab.directory)/body)" \(QueueTool.origin)/ok?id=$i; done
            """
        )
        let url = URL(filePath: self.tool.file)
        let file = try self.overwritePage(with: "20-xxxx")
        for words in [["list", "--json"], ["stats"], ["list", "--json"], ["list"]] {
            let result = try self.tool.run(["queue"] + words)
            #expect(result.status == 70, "\(words)")
            #expect(result.errors.contains("damaged"), "\(result.errors)")
            #expect(result.errors.contains("queue repair"), "\(result.errors)")
        }
        #expect(try Data(contentsOf: url) == file)
        #expect(try !self.names().contains { $0.contains("corrupt") })

        let repair = try self.tool.run("queue", "repair")
        #expect(repair.status == 70)
        let lost = try #require(repair.errors.firstMatch(of: /(\d+) requests kept, (\d+) lost, the old file is (\S+)/))
        let aside = String(lost.3)
        #expect(FileManager.default.fileExists(atPath: aside), "\(repair.errors)")
        let kept = try self.tool.run("queue", "list", "--json")
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(try kept.documents.count == Int(lost.1))
        #expect(try #require(Int(lost.1)) + #require(Int(lost.2)) == 40)
        let again = try self.tool.run("queue", "repair")
        #expect(again.status == 0)
        #expect(again.output == "Nothing is damaged.\n")
    }

    @Test func aBodyThatIsGoneIsTold() throws {
        try self.tool.send("-d", String(repeating: "x", count: 100_000))
        try FileManager.default.removeItem(atPath: "\(self.tool.file)-bodies")
        let repair = try self.tool.run("queue", "repair")
        #expect(repair.status == 70, "\(repair)")
        #expect(repair.output.contains("1 held, because they or their bodies are damaged;"), "\(repair)")
        #expect(try #require(try self.tool.run("queue", "repair", "--json").documents.first)["held"]?.number == 1)
        // To try it again would not help.
        let list = try self.tool.run("queue").output
        #expect(list.contains("it is damaged") && list.contains("'netpath queue cancel "), "\(list)")
        #expect(!list.contains("queue retry"), "\(list)")
    }

    /// One bit of its header is another, and a copy has no lock that says whose it is.
    @Test(arguments: [16, 18, 19, 47, 60])
    func aDamagedCopyIsRepaired(place: Int) throws {
        for number in 1...5 { try self.tool.send("-d", "\(number)") }
        var file = try Data(contentsOf: URL(filePath: self.tool.file))
        file[place] ^= 0x40
        let copy = "\(self.tool.lab.directory)/copy.sqlite"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(FileManager.default.createFile(atPath: copy, contents: file, attributes: attributes))
        var tool = self.tool
        tool.file = copy
        // What only newer versions may write can still be read.
        let words = place == 18 ? ["cancel", "--all"] : ["list"]
        let result = try tool.run(["queue"] + words)
        #expect(result.status == 70, "\(result)")
        #expect(result.errors.contains("damaged") && result.errors.contains("queue repair"), "\(result.errors)")
        let repair = try tool.run("queue", "repair", "--json")
        #expect(repair.status == 70, "\(repair)")
        let document = try #require(try repair.documents.first)
        #expect(document["recovered"]?.number == 5)
        #expect(document["lost"]?.number == 0)
        let aside = try #require(document["setAsideAs"]?.string)
        #expect(try Data(contentsOf: URL(filePath: aside)) == file)
        #expect(try tool.run("queue", "list", "--json").documents.count == 5)
        let again = try tool.run("queue", "repair", "--json")
        #expect(again.status == 0)
        #expect(try #require(try again.documents.first)["recovered"]?.number == nil)
    }

    /// Only who sends repairs; whoever else meets damage says so, and changes nothing.
    @Test func aCommandThatMeetsDamageSaysSo() throws {
        for number in 1...10 { try self.tool.send("-d", "\(number)-" + String(repeating: "x", count: 1500)) }
        try self.overwritePage(with: "5-xxxx")
        let result = try self.tool.run("queue", "cancel", "--all")
        #expect(result.status == 70, "\(result)")
        #expect(result.errors.contains("queue repair"), "\(result.errors)")
        #expect(try self.tool.run("queue", "repair").errors.contains("the old file is"))
        #expect(try self.tool.run("queue", "cancel", "--all").status == 0)
        #expect(try self.tool.run("queue").output == "Nothing waits.\n")
    }

    @Test func statsDoNotWaitForWhoeverHasTheFile() throws {
        try self.tool.send()
        // For as long as this takes: the lock goes with the program.
        let holder = try self.tool.lab.start("flock", ["\(self.tool.file)-lock", "sh", "-c", "echo '{}'; sleep 60"])
        try holder.next()
        let begin = ContinuousClock.now
        let result = try self.tool.run("queue", "stats")
        #expect(result.status == 70)
        #expect(result.errors.contains("(flock) has held the queue locked"), "\(result.errors)")
        #expect(.now - begin < .seconds(12))
        _ = try holder.stop()
    }

    @Test func whoWritesKeepsNobodyFromReading() throws {
        try self.tool.send()
        let script = ".open \(self.tool.file)\nbegin immediate;\n.shell echo '{}'\n.shell sleep 60\n"
        let words = ["-c", "printf \(QueueTool.quoted([script.replacing("\n", with: "\\n")])) | sqlite3"]
        let holder = try self.tool.lab.start("sh", words)
        try holder.next()
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["pending"]?.number == 1)
        _ = try holder.stop()
    }

    @Test func secretsAreShownOnRequestOnly() throws {
        let id = try self.tool.send(
            "-H",
            "Ocp-Apim-Subscription-Key: s3cr3t1",
            "-H",
            "Accept: text/plain",
            path: "/ok?code=s3cr3t2&otp=s3cr3t3&s3cr3t4"
        )
        for words in [["list"], ["list", "--json"], ["show", id], ["show", id, "--json"]] {
            let hidden = try self.tool.run(["queue"] + words).output
            #expect(!hidden.contains("s3cr3t"), "\(words): \(hidden)")
            #expect(hidden.contains("198.51.100.7:8080/ok?code=<redacted>"), "\(words): \(hidden)")
            let shown = try self.tool.run(["queue"] + words + ["--show-secrets"]).output
            #expect(shown.contains("s3cr3t2&otp=s3cr3t3&s3cr3t4"), "\(words): \(shown)")
            if words[0] == "show" {
                #expect(hidden.contains("text/plain"))
                #expect(shown.contains("s3cr3t1"))
            }
        }
    }

    @Test func secretsOfResponsesAreShownOnRequestOnly() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let words = ["send", "--wait", "--json", QueueTool.origin + "/long-header?n=9"]
        let hidden = try self.tool.run(words)
        #expect(try hidden.documents.first?["attempts"]?.number == 1)
        #expect(!hidden.output.contains("xxxxxxxxx"), "\(hidden.output)")
        #expect(hidden.output.contains("X-Long"), "\(hidden.output)")
        #expect(try self.tool.run(words + ["--show-secrets"]).output.contains("xxxxxxxxx"))
    }

    @Test func responsesAreCountedListedAndRemoved() throws {
        // Whoever waited for it is gone by the time it comes.
        let words = ["send", "--wait", "--timeout", "1s", QueueTool.origin + "/bytes?n=100000"]
        #expect(try self.tool.run(words).status == 3)
        #expect(try self.tool.run(words).status == 3)
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        let stats = try #require(try self.tool.run("queue", "stats", "--json").documents.first)
        #expect(stats["counts"]?["succeeded"]?.number == 2)
        #expect(try #require(stats["bytes"]?.number) > 200_000)
        let listed = try self.tool.run("queue", "responses", "--json").documents
        #expect(listed.count == 2)
        #expect(try #require(listed.first?["attempts"]?.number) >= 1)
        #expect(try self.tool.run("queue", "responses").output.contains("response: 200, 100000 bytes"))
        let id = try #require(listed.first?["id"]?.string)
        #expect(try self.tool.run("queue", "responses", "purge", id).output == "1 request removed\n")
        #expect(try self.tool.run("queue", "responses", "purge").output == "1 request removed\n")
        #expect(try self.tool.run("queue", "responses").output == "No responses are kept.\n")
        #expect(try self.tool.run("queue", "stats", "--json").documents.first?["bytes"]?.number == 0)
    }

    @Test func whatWasDeliveredIsRemembered() throws {
        let server = try self.tool.serve()
        defer { withExtendedLifetime(server) {} }
        let id = try self.tool.send("-d", "x", path: "/status/202?id=a")
        #expect(try self.tool.run("queue", "run", "--until-empty").status == 0)
        let show = try self.tool.run("queue", "show", id)
        #expect(show.status == 0)
        #expect(show.output.hasPrefix("\(id) was delivered at 20"), "\(show.output)")
        #expect(show.output.contains("answered 202"), "\(show.output)")
        let end = try #require(try self.tool.run("queue", "show", id, "--json").documents.first)
        #expect(end["state"]?.string == "succeeded")
        #expect(end["lastStatus"]?.number == 202)
        #expect(end["ended"]?.string?.hasPrefix("20") == true)
    }

    @Test func whatAKilledProcessWasSendingIsNotShownAsRunning() throws {
        let server = try self.tool.serve()
        let id = try self.tool.send("-d", "x", path: "/stall-response?id=a")
        let run = try self.tool.start("queue", "run")
        try server.nextRequest()
        #expect(try self.tool.run("queue", "--json").documents.first?["state"]?.string == "running")
        run.sendSignal(.kill)
        _ = try run.waitForEnd()
        let record = try #require(try self.tool.run("queue", "show", id, "--json").documents.first)
        #expect(record["state"]?.string == "ready")
        #expect(record["isRepeat"]?.bool == true)
        #expect(record["waiting"]?["code"]?.string == "notRunning")
        let counts = try self.tool.run("queue", "stats", "--json").documents.first?["counts"]
        #expect(counts?["running"]?.number == 0 && counts?["ready"]?.number == 1)
    }

    @Test func whatWasCancelledIsRemembered() throws {
        let id = try self.tool.send()
        try self.tool.run("queue", "cancel", id)
        let show = try self.tool.run("queue", "show", id)
        #expect(show.status == 0)
        #expect(show.output.contains("was cancelled"), "\(show.output)")
    }
}
