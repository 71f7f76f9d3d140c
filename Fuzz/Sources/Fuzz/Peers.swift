// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NIOCore
import NIOEmbedded
import NetPath
import NetPathHTTP
import NetPathSystem

@testable import NetPathCLI
@testable import NetPathExec
@testable import NetPathHTTPProbe
@testable import NetPathServe

/// What a plugin writes: first as the protocol's own, then as another netpath.
func fuzzPlugin(_ bytes: [UInt8]) {
    let hello = #"{"netpath":1,"name":"fuzz"}"# + "\n"
    for (isRemote, beginning) in [(false, ""), (false, hello), (true, "")] {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var options = ExecMonitor.Options(command: ["plugin"])
        options.scope = isRemote ? .remote : .local
        var machine = PluginMachine(
            options,
            instance: "here",
            index: { $0 == "eth0" ? 2 : nil },
            now: start
        )
        _ = machine.received(Array(beginning.utf8), now: start)
        // In pieces, as pipes hand them out.
        for piece in stride(from: 0, to: bytes.count, by: 64) {
            _ = machine.received(bytes[piece..<min(piece + 64, bytes.count)], now: start)
        }
        _ = machine.wake(now: start)
        _ = machine.ended()
    }
}

/// An answer to the HTTP probe: a status, the fields up to an empty line, the body.
func fuzzAnswer(_ bytes: [UInt8]) {
    _ = PortalReport(bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var fields: [HeaderFields.Field] = []
    for line in lines.dropFirst().prefix(while: { !$0.isEmpty }) {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { fields.append(.init(name: String(parts[0]), value: String(parts[1]))) }
    }
    let body = Array(lines.drop { !$0.isEmpty }.joined(separator: "\n").utf8)
    let response = TransportResponse(status: Int(lines[0]) ?? 302, headers: HeaderFields(fields), body: body)
    _ = CheckFinding(.success(response), to: HTTPCheck(url: "http://example.com/a/b?c"))
    _ = HTTPAnswer(result: .success(response), roundTrip: .zero, time: 1_800_000_000).clockLead
    _ = RetryAfter.parse(text, now: .seconds(1_800_000_000))
}

/// A line that a client of the service's socket sends.
func fuzzSocket(_ bytes: [UInt8]) { _ = ServiceRequest(bytes[...]).line }

/// What arrives on a connection of `netpath serve`.
func fuzzRequest(_ bytes: [UInt8]) {
    let channel = EmbeddedChannel(loop: unsafe server.loop)
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    guard unsafe (try? server.core.accept(channel, isUnix: true)) != nil else { return }
    _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
    unsafe server.loop.run()
    while (try? channel.readOutbound(as: ByteBuffer.self)) != nil {}
}

/// One server for all inputs.
///
/// What takes time is made on the only thread that this loop allows.
private nonisolated(unsafe) let server = {
    let loop = EmbeddedEventLoop()
    let core = ServerCore(
        Access(),
        limits: ServeLimits(),
        document: Array("{}".utf8),
        entrance: LoopEntrance(loop),
        worker: { _ in nil },
        startThread: {
            $0()
            return true
        }
    )
    return (loop: loop, core: core)
}()
