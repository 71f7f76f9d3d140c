// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Testing

@testable import NetPath
@testable import NetPathCLI

/// A client of the service's socket as a value: what is read from it, what is kept for it, and when it is let go.
@Suite struct ServiceConnectionTests {
    private let limits = ServiceLimits()
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func connection() -> ServiceConnection {
        ServiceConnection(ServiceSocket.Peer(isTrusted: false), self.limits, now: self.start)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func pages(_ count: Int) -> ServicePages {
        ServicePages { ([1], count > 1 ? self.pages(count - 1) : nil) }
    }

    @Test func oneQuestionAtATime() {
        var client = self.connection()
        client.receive(self.bytes("{\"request\":\"status\"}\n{\"request\":\"watch\"}\n{\"requ"))
        // The next one is there already.
        #expect(!client.wantsInput && client.hasQuestion)
        var question = client.takeQuestion()
        #expect(question == .status)
        client.send([1, 2, 3], now: self.start)
        // What does not read is not read from.
        #expect(!client.wantsInput && !client.hasQuestion)
        question = client.takeQuestion()
        #expect(question == nil)
        client.wrote(2, now: self.start)
        #expect(!client.wantsInput && client.output == [3])
        client.wrote(1, now: self.start)
        question = client.takeQuestion()
        #expect(question == .watch)
        client.send([1], now: self.start)
        client.wrote(1, now: self.start)
        #expect(client.wantsInput && !client.hasQuestion && !client.isGone)
    }

    @Test func aQuestionWithoutAnEndIsNone() {
        var client = self.connection()
        client.receive([UInt8](repeating: 0x20, count: 1_024))
        #expect(!client.isGone && client.wantsInput)
        client.receive([0x20])
        var other = self.connection()
        other.receive([UInt8](repeating: 0x20, count: 2_000) + self.bytes("\n"))
        // It is told so before it is closed.
        for var client in [client, other] {
            #expect(!client.isGone && !client.wantsInput)
            var question = client.takeQuestion()
            #expect(question == .unknown)
            client.send([1], now: self.start)
            client.wrote(1, now: self.start)
            question = client.takeQuestion()
            #expect(question == nil && client.isGone)
        }
    }

    @Test func aPageIsMadeWhenTheLastOneIsRead() {
        var client = self.connection()
        client.receive(self.bytes("{\"request\":\"history\",\"since\":0}\n"))
        _ = client.takeQuestion()
        client.send(self.pages(2))
        #expect(!client.wantsInput)
        var pages = client.takePages()
        #expect(pages != nil && client.deadline == nil)
        // One is being made.
        let none = client.takePages()
        #expect(none == nil && !client.wantsInput)
        let first = pages?.make()
        client.take(page: first?.page ?? [], rest: first?.rest, now: self.start)
        pages = client.takePages()
        #expect(pages == nil, "before it is read")
        client.wrote(1, now: self.start)
        #expect(!client.wantsInput && !client.hasQuestion)
        pages = client.takePages()
        let second = pages?.make()
        #expect(second != nil && second?.rest == nil)
        client.take(page: second?.page ?? [], rest: nil, now: self.start)
        client.wrote(1, now: self.start)
        #expect(client.wantsInput && !client.isGone)
    }

    @Test func whatClosedItsHalfReadsItsAnswers() {
        var client = self.connection()
        client.receive(self.bytes("{\"request\":\"status\"}\n{\"request\":\"status\"}\n"))
        for _ in 0..<2 {
            let question = client.takeQuestion()
            #expect(question == .status)
            client.send([1], now: self.start)
            client.receive([])
            // Whether there is nothing more to read must not be asked again and again.
            #expect(!client.wantsInput && !client.isGone)
            client.wrote(1, now: self.start)
        }
        #expect(client.isGone)
        var empty = self.connection()
        empty.receive([])
        #expect(empty.isGone)
    }

    @Test func timeIsLimited() {
        let late = self.start + self.limits.idle
        var silent = self.connection()
        // Bytes that make no question renew nothing.
        silent.receive(self.bytes("{"))
        silent.expire(now: late + .nanoseconds(-1))
        #expect(!silent.isGone)
        silent.expire(now: late)
        #expect(silent.isGone)

        var watching = self.connection()
        watching.receive(self.bytes("{\"request\":\"watch\"}\n"))
        _ = watching.takeQuestion()
        watching.send(path: [1], sequence: 0, watches: true, now: self.start)
        watching.wrote(1, now: self.start)
        #expect(watching.deadline == nil, "one that watches may be silent for ever")
        watching.show([1, 2], sequence: 1, now: late)
        watching.wrote(1, now: late + .seconds(9))
        // Byte by byte is not read.
        watching.expire(now: late + self.limits.reading)
        #expect(watching.isGone)
    }

    @Test func theNewestStateIsShownOnce() {
        var client = self.connection()
        func written() { client.wrote(1, now: self.start) }
        client.send(path: [0], sequence: 3, watches: true, now: self.start)
        written()
        client.show([1], sequence: 3, now: self.start)
        #expect(client.output.isEmpty)
        client.show([2], sequence: 5, now: self.start)
        client.show([3], sequence: 6, now: self.start)
        #expect(client.output == [2])
        written()
        client.show([4], sequence: 7, now: self.start)
        #expect(client.output == [4])
        written()
        // The answer to another question is ahead of what is published.
        client.send(path: [5], sequence: 9, watches: false, now: self.start)
        written()
        client.show([6], sequence: 8, now: self.start)
        #expect(client.output.isEmpty)
        client.show([7], sequence: 10, now: self.start)
        #expect(client.output == [7])
    }

    @Test func halfOfTheDescriptorsAreLeft() {
        #expect(ServiceLimits().fitting(files: 1_024).clients == 256)
        #expect(ServiceLimits().fitting(files: 1_024).clientsPerUser == 64)
        let few = ServiceLimits().fitting(files: 40)
        #expect(few.clients == 20 && few.clientsPerUser == 5)
        #expect(ServiceLimits().fitting(files: 0).clients == 1)
    }
}
