// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathNetlink

/// Requests as they are sent, and questions that share a datagram.
struct KernelQueriesTests {
    @Test func requestIsWrittenAsTheKernelReadsIt() {
        var datagram: [UInt8] = []
        NetlinkRequest.route(to: IPAddress(ipv4: 0x0900_0001), through: 7, matchesTable: false)
            .append(to: &datagram, sequence: 0x0102_0304)
        var message: (sequence: UInt32, destination: IPAddress?, interface: UInt32?)?
        NetlinkMessage.forEach(in: datagram) {
            let destination = $0.attribute(1, headerLength: 12)?.address
            message = ($0.sequence, destination, $0.attribute(4, headerLength: 12)?.uint32)
        }
        #expect(datagram.count == 44)
        #expect(message?.sequence == 0x0102_0304)
        #expect(message?.destination == IPAddress(ipv4: 0x0900_0001))
        #expect(message?.interface == 7)
    }

    @Test func everyQuestionGetsItsOwnAnswer() throws {
        // More than fit into one datagram; the loopback interface is number 1 everywhere, and no other one is asked.
        let indices = (0..<100).map { UInt32($0 % 3 == 0 ? 0x7FFF_FFFF : 1) }
        let answers = try KernelQueries().ask(indices.map { .link($0) }, LinkUpdate.init)
        #expect(answers.map { (try? $0.get())?.index } == indices.map { $0 == 1 ? 1 : nil })
    }

    /// A link alone takes more than a kilobyte, as that of a card with hundreds of functions takes more than 64.
    @Test func bufferGrowsUntilTheDumpFits() throws {
        let queries = try KernelQueries(bufferSize: 256)
        var indices: [UInt32] = []
        let results = (0..<20).map { _ in
            indices = []
            return queries.dump(.dumpLinks()) { if let update = LinkUpdate($0) { indices.append(update.index) } }
        }
        #expect(results.first == .interrupted, "the first datagram does not fit, and that is noticed")
        #expect(results.last == .complete)
        #expect(indices.contains(1))
    }

    @Test func anAnswerThatDoesNotFitIsAskedForAgain() throws {
        let answer = try KernelQueries(bufferSize: 256).ask(.link(1), LinkUpdate.init)
        #expect((try? answer.get())?.index == 1)
    }

    @Test func noQuestionHasNoAnswer() throws {
        #expect(try KernelQueries().ask([], LinkUpdate.init).isEmpty)
    }
}
