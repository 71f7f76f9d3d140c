// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathSystem

// serve [--quiet] [--port N] [ADDRESS]: an HTTP/1.1 server that fails on request, see Behaviors.swift.
//
// Prints {"port":N} when it listens, then a line for each request that came whole ("event":"request") or not
// ("partial"), before it is answered. SIGUSR1 makes it print its counters, SIGTERM and SIGINT too before it ends;
// with --quiet it prints nothing else.

func serve(_ arguments: [String]) -> Never {
    var arguments = arguments
    let isQuiet = arguments.contains("--quiet")
    arguments.removeAll { $0 == "--quiet" }
    var port = UInt16(0)
    if let index = arguments.firstIndex(of: "--port"), index + 1 < arguments.count {
        port = UInt16(arguments[index + 1]) ?? 0
        arguments.removeSubrange(index...(index + 1))
    }
    let address = arguments.first ?? "127.0.0.1"
    guard let listener = Listener(address: address, port: port) else {
        fail("cannot listen on \(address) port \(port): errno \(errno)")
    }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGUSR1, SIGTERM, SIGINT] { unsafe sigaddset(&signals, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let journal = Journal(isQuiet: isQuiet)
    let behaviors = Behaviors(journal: journal, holds: Holds())
    say(#"{"port":\#(listener.port)}"#)
    let isStarted = BackgroundThread.start {
        while true {
            guard let descriptor = listener.accept() else { continue }
            let number = journal.connected()
            let isStarted = BackgroundThread.start { behaviors.serve(Connection(descriptor, number: number)) }
            if !isStarted { close(descriptor) }
        }
    }
    guard isStarted else { fail("there is no thread to be had") }
    while true {
        var signal: Int32 = 0
        guard unsafe sigwait(&signals, &signal) == 0 else { continue }
        journal.writeCounters()
        if signal != SIGUSR1 { exit(0) }
    }
}
