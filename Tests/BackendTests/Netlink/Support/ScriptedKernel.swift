// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

@testable import NetPathNetlink

/// A kernel whose answers a test writes.
final class ScriptedKernel: RouteKernel {
    /// What it answers about a packet.
    var answer: (Flow) -> Result<RouteReply, KernelError>
    /// What it answers about one that came in through an interface; nil as about any other.
    var incomingAnswer: Result<RouteReply, KernelError>?
    /// What it answers instead where the route is asked for as applied to the packet.
    var appliedAnswer: ((Flow) -> Result<RouteReply, KernelError>)?
    var hashesAddresses = true
    var ruleList: Result<[RoutingRule], KernelError> = .success([])
    /// What a socket gets that connects.
    var choice: SourceChoice = .none
    /// Every packet that was asked about, in order.
    private(set) var asked: [Flow] = []
    private(set) var connected: [Flow] = []
    private(set) var ruleDumps = 0

    init(_ answer: @escaping (Flow) -> Result<RouteReply, KernelError>) {
        self.answer = answer
    }

    func routes(_ requests: [NetlinkRequest]) -> [Result<RouteReply, KernelError>] {
        requests.map { request in
            guard let (flow, matchesTable, isIncoming) = request.question else { return .failure(.badAnswer) }
            self.asked.append(flow)
            if isIncoming, let incomingAnswer { return incomingAnswer }
            if !matchesTable, let appliedAnswer { return appliedAnswer(flow) }
            guard case .success(var reply) = self.answer(flow) else { return self.answer(flow) }
            // The source address is in the answer to a plain lookup only.
            if matchesTable { reply.source = nil }
            return .success(reply)
        }
    }

    func nextHop(_ id: UInt32) -> Result<NextHopReply, KernelError> { .failure(.noSuchObject) }

    func rules() -> Result<[RoutingRule], KernelError> {
        self.ruleDumps += 1
        return self.ruleList
    }

    func hashesAddressesOnly(_ family: AddressFamily) -> Bool { self.hashesAddresses }

    /// Has it a policy rule about packets from some addresses, beside one about all.
    func addRule(_ family: AddressFamily, sourceLength: UInt8) {
        let local = RoutingRule(family: family, priority: 0, table: 255)
        let main = RoutingRule(family: family, priority: 32_766, table: 254)
        var rule = RoutingRule(family: family, priority: 100, table: 77)
        rule.sourceLength = sourceLength
        self.ruleList = .success([local, rule, main])
    }

    func source(of flow: Flow) -> SourceChoice {
        self.connected.append(flow)
        return self.choice
    }

    /// Forgets what was asked so far.
    func forget() {
        (self.asked, self.connected, self.ruleDumps) = ([], [], 0)
    }
}

extension NetlinkRequest {
    /// The packet a request asks about, read as the kernel does.
    fileprivate var question: (Flow, matchesTable: Bool, isIncoming: Bool)? {
        var datagram: [UInt8] = []
        self.append(to: &datagram, sequence: 1)
        var question: (Flow, Bool, Bool)?
        NetlinkMessage.forEach(in: datagram) { message in
            func attribute(_ type: Int) -> NetlinkAttribute? { message.attribute(type, headerLength: 12) }
            guard let destination = attribute(1)?.address, let flags = message.field(at: 8, as: UInt32.self) else {
                return
            }
            var flow = Flow(to: destination)
            flow.source = attribute(2)?.address
            flow.interface = attribute(4)?.uint32
            flow.mark = attribute(16)?.uint32
            flow.userID = attribute(25)?.uint32
            flow.transport = attribute(27).map { Flow.Transport(protocolNumber: $0.bytes.first ?? 0) }
            if let port = attribute(29)?.bytes, port.count == 2 {
                flow.transport?.destinationPort = UInt16(port[0]) << 8 | UInt16(port[1])
            }
            question = (flow, flags & 0x2000 != 0, attribute(3) != nil)
        }
        return question
    }
}

extension Result<RouteReply, KernelError> {
    /// A route through an interface, and the source address the kernel would choose.
    static func route(
        through interface: UInt32,
        from source: InternetAddress? = nil,
        table: UInt32 = 254,
        expiresIn: Duration? = nil
    ) -> Self {
        let nextHop = NextHop(interfaceIndex: interface, gateway: nil, isDown: false)
        return .success(
            RouteReply(type: 1, nextHops: [nextHop], source: source, metric: 0, table: table, expiresIn: expiresIn)
        )
    }

    /// A route to an address of this host.
    static let local = Self.success(RouteReply(type: 2, nextHops: [], metric: 0, table: 255))
}
