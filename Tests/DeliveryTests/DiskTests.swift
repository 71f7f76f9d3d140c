// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

/// A file system that is full.
@Suite(.needsNamespaces)
struct DiskTests {
    @Test func fullDiskLosesNothing() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let folder = try stage.lab.makeDisk(of: "20m")
        // Something else that takes room, and gives it back.
        try stage.lab.run("dd if=/dev/zero of=\(folder)/ballast bs=1k count=8192 status=none")
        let file = "\(folder)/queue.sqlite"

        let full = try stage.start("enqueue", file: file, ["size": "20000", "name": "full"])
        let end = try full.next { $0["acknowledged"] == nil && $0["error"] != nil }
        #expect(end["error"]?.string?.contains("full") == true, "\(end)")
        #expect(try full.waitForEnd() == 1)

        // As many as were acknowledged are there, and no half one.
        let state = try stage.start("state", file: file)
        let counts = try state.next()
        let kept = Int(counts["ready"]?.string ?? "") ?? -1
        #expect(kept > 100)
        try state.waitForEnd()

        try stage.lab.run("rm \(folder)/ballast")
        let more = try stage.start("enqueue", file: file, ["size": "20000", "name": "more", "count": "5"])
        try more.next { $0["end"] != nil }
        try more.waitForEnd()
        try stage.drain(file)
        try server.expectDelivered(
            Set((1...kept).map { "full-\($0)" } + (1...5).map { "more-\($0)" })
        )
        #expect(try stage.lab.run("ls \(folder)").contains("corrupt") == false)
    }

    /// With not one byte free, whichever process took it.
    @Test(
        arguments: [
            ("deliver", 20_000), ("expire", 2_000), ("expire", 29_000), ("cancel --all", 2_000),
            ("reset --yes", 29_000),
        ]
    )
    func whatWasTakenEndsOnAFullDisk(_ way: String, _ size: Int) throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let folder = try stage.lab.makeDisk(of: "12m")
        let file = "\(folder)/queue.sqlite"
        try stage.uplink.setPeerCarrier(false)
        var options = ["size": "\(size)", "name": "full"]
        if way == "expire" { options["expires-in"] = "1" }
        let full = try stage.start("enqueue", file: file, options)
        try full.next(timeout: .seconds(60)) { $0["acknowledged"] == nil && $0["error"] != nil }
        try full.waitForEnd()
        try stage.lab.fill(folder)
        let state = try stage.start("state", file: file)
        let kept = Int(try state.next()["ready"]?.string ?? "") ?? -1
        try state.waitForEnd()
        #expect(kept > 100)
        switch way {
        case "deliver", "expire":
            // Without a path, so that what has not expired yet is not delivered.
            if way == "deliver" { try stage.uplink.setPeerCarrier(true) }
            try stage.drain(file)
        default: try stage.lab.run("'\(QueueTool.program)' queue \(way) --queue '\(file)'")
        }
        try server.expectDelivered(way == "deliver" ? Set((1...max(1, kept)).map { "full-\($0)" }) : [])
        let rest = try stage.start("state", file: file)
        let counts = try rest.next()
        #expect(counts["ready"]?.string == "0")
        #expect(counts["dead"]?.string == (way == "expire" ? "\(kept)" : "0"))
    }

    /// One request after another is begun on a full disk, and none waits for the end of another.
    @Test func aServerThatStallsStopsNoOtherOnAFullDisk() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let folder = try stage.lab.makeDisk(of: "8m")
        let file = "\(folder)/queue.sqlite"
        try stage.uplink.setPeerCarrier(false)
        let stalling = ["size": "20000", "name": "stalling", "count": "2"]
        try stage.start("enqueue", path: "/stall-response", file: file, stalling).waitForEnd()
        let others = ["size": "20000", "name": "other", "count": "20"]
        try stage.start("enqueue", file: file, others).waitForEnd()
        try stage.lab.fill(folder)
        try stage.uplink.setPeerCarrier(true)
        let delivery = try stage.start("deliver", file: file, ["events": "1"])
        try server.await(22, timeout: .seconds(25))
        try delivery.stop()
    }

    /// An answer for which the disk has no room costs its body and a long head, and keeps no other request from going out.
    @Test(arguments: ["/bytes?n=4000000", "/long-header?n=1000&lines=200"])
    func anAnswerThatDoesNotFitIsKeptWithoutItsBody(_ path: String) throws {
        var tool = try QueueTool()
        tool.file = "\(try tool.lab.makeDisk(of: "3m"))/queue.sqlite"
        let server = try tool.serve()
        _ = try tool.run("queue", "pause")
        let kept = try tool.run("send", "--wait", "--timeout", "5s", "-d", "big", QueueTool.origin + path)
        #expect(kept.errors.contains("stays in the queue"), "\(kept.errors)")
        let id = try #require(try tool.run("queue", "--json").documents.first?["id"]?.string)
        for number in 1...8 { try tool.send("-d", "small-\(number)", path: "/ok?id=\(number)") }
        if path.hasPrefix("/long-header") { try tool.lab.fill(tool.lab.directory + "/small") }
        _ = try tool.run("queue", "resume")
        let run = try tool.run("queue", "run", "--until-empty", "--timeout", "40s")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Set(server.bodies(9)) == Set(["big"] + (1...8).map { "small-\($0)" }))
        let shown = try tool.run("queue", "show", id, "--json").documents.first
        #expect(shown?["response"]?["isCut"] == true, "\(shown as Any)")
    }

    /// What cannot be written down is not sent, so that nothing goes out twice for want of room.
    @Test func deliveryWaitsForRoom() throws {
        let stage = try Stage()
        let server = try Server(on: stage)
        let folder = try stage.lab.makeDisk(of: "16m")
        try stage.uplink.setPeerCarrier(false)
        let client = try stage.start(
            "mixed",
            file: "\(folder)/queue.sqlite",
            ["count": "60", "name": "full", "size": "20000", "pace": "fast", "stay": "1", "events": "1"]
        )
        for _ in 1...60 { try client.next { $0["acknowledged"] != nil } }
        // Another process took what was reserved for that.
        try stage.lab.run("rm \(folder)/queue.sqlite-reserve")
        try stage.lab.fill(folder)
        try stage.uplink.setPeerCarrier(true)
        try client.next { $0["what"]?.string?.contains("disk is full") == true }
        try stage.lab.run("rm \(folder)/ballast-*")
        try client.next { $0["end"] != nil }
        try server.expectDelivered(Set((1...60).map { "full-\($0)" }))
        #expect(try server.requests().count == 60)
    }
}

extension NetworkNamespace {
    /// Makes a file system of so many bytes, and returns its folder.
    fileprivate func makeDisk(of size: String) throws -> String {
        let folder = "\(self.directory)/small"
        try self.run("mkdir \(folder) && mount -t tmpfs -o size=\(size) tmpfs \(folder)")
        return folder
    }

    /// Takes what is left of a file system, to the last byte, with files whose names begin with `ballast-`.
    fileprivate func fill(_ folder: String) throws {
        for size in ["64k", "1k", "1"] {
            try self.run("dd if=/dev/zero of=\(folder)/ballast-\(size) bs=\(size) status=none 2>&1 || true")
        }
    }
}
