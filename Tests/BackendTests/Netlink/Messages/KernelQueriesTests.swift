// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import Testing

@testable import NetPathNetlink

/// Requests as they are sent, and questions that share a datagram.
struct KernelQueriesTests {
    @Test func requestIsWrittenAsTheKernelReadsIt() throws {
        var flow = Flow(to: InternetAddress(ipv4: 0x0900_0001))
        flow.interface = 7
        flow.source = InternetAddress(ipv4: 0xC000_0202)
        flow.mark = 51_820
        flow.userID = 1000
        flow.transport = Flow.Transport(protocolNumber: Flow.Transport.tcp, destinationPort: 443)
        var datagram: [UInt8] = []
        let request = NetlinkRequest.route(flow, matchesTable: false)
        request.append(to: &datagram, sequence: 0x0102_0304)
        request.asking(about: 8).append(to: &datagram, sequence: 0x0102_0305)
        var interfaces: [UInt32?] = []
        var sequences: [UInt32] = []
        NetlinkMessage.forEach(in: datagram) { message in
            func attribute(_ type: Int) -> NetlinkAttribute? { message.attribute(type, headerLength: 12) }
            sequences.append(message.sequence)
            interfaces.append(attribute(4)?.uint32)
            // The lengths of both addresses, in bits.
            #expect(message.field(at: 1, as: UInt8.self) == 32)
            #expect(message.field(at: 2, as: UInt8.self) == 32)
            #expect(attribute(1)?.address == flow.destination)
            #expect(attribute(2)?.address == flow.source)
            #expect(attribute(16)?.uint32 == 51_820)
            #expect(attribute(25)?.uint32 == 1000)
            #expect(attribute(27).map { Array($0.bytes) } == [6])
            #expect(attribute(28) == nil)
            #expect(attribute(29).map { Array($0.bytes) } == [0x01, 0xBB])
        }
        #expect(sequences == [0x0102_0304, 0x0102_0305])
        #expect(interfaces == [7, 8])
    }

    @Test func aPacketOfWhichNothingIsDecidedAsksForItsDestinationOnly() {
        var datagram: [UInt8] = []
        NetlinkRequest.route(Flow(to: InternetAddress(ipv4: 0x0900_0001)), matchesTable: true)
            .append(to: &datagram, sequence: 1)
        #expect(datagram.count == 36)
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
