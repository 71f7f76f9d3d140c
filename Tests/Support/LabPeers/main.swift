// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What networks in namespaces need at their ends. The first word says what this process is:
//
//   serve …                    a server of HTTP that fails on request: see Server/Serve.swift
//   carry NAME ENDPOINT        a tunnel: carries the packets of the tun device NAME in UDP datagrams to ENDPOINT
//   answer [INNER…]            the internet: answers for every address on every Ethernet interface of the namespace;
//                              INNER are addresses inside of tunnels, to which there is no way back outside
//   probe MILLISECONDS A,B C…  a program that wants answers: prints which addresses answered, and ends as soon as all
//                              addresses of one group (those between commas) have
//
// Options of `carry` and `probe`: --mark N (SO_MARK), --device NAME (SO_BINDTODEVICE), --source ADDRESS (bind); of
// `probe`: --port N, 7 without it; --refusals N, after how many in succession nobody waits for an address.

// Where the variable NETPATH_CHAOS names a pipe, it is netpath with backends that can be broken: see Chaos/Chaos.swift.

import Glibc

func fail(_ message: String) -> Never {
    _ = unsafe Array("LabPeers: \(message)\n".utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    exit(2)
}

func numericAddress(_ text: String, port: UInt16) -> SocketAddress {
    SocketAddress(text, port: port) ?? { fail("no address: \(text)") }()
}

if let pipe = unsafe getenv("NETPATH_CHAOS") { breakableNetPath(orders: unsafe String(cString: pipe)) }
if CommandLine.arguments.dropFirst().first == "serve" { serve(Array(CommandLine.arguments.dropFirst(2))) }
var words: [String] = []
var options: [String: String] = [:]
var arguments = CommandLine.arguments.dropFirst().makeIterator()
while let word = arguments.next() {
    guard word.hasPrefix("--") else {
        words.append(word)
        continue
    }
    guard let value = arguments.next() else { fail("\(word) needs a value") }
    options[word] = value
}
let socketOptions = DatagramSocket.Options(
    mark: options["--mark"].flatMap { UInt32($0) },
    device: options["--device"],
    source: options["--source"]
)

switch words.first {
case "carry" where words.count == 3:
    let endpoint = numericAddress(words[2], port: Answer.tunnelPort)
    TunnelCarrier(device: words[1], endpoint: endpoint, options: socketOptions).run()
case "answer":
    AnsweringRouter(innerAddresses: words.dropFirst().map { numericAddress($0, port: 0) }).run()
case "probe" where words.count > 2:
    guard let bound = Int(words[1]) else { fail("no time: \(words[1])") }
    let groups = words[2...].map { $0.split(separator: ",").map(String.init) }
    let port = options["--port"].flatMap { UInt16($0) } ?? 7
    let refusals = options["--refusals"].flatMap { Int($0) }
    Probe(groups: groups, port: port, options: socketOptions, refusals: refusals).run(within: .milliseconds(bound))
default:
    fail("see the beginning of main.swift for the arguments")
}
