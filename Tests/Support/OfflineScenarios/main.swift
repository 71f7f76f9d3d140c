// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import OfflineRequests

// Runs one scenario on a queue or on its transport, with nothing but the libraries' public interface, and writes a JSON object per line.
// The tests kill it and cut its network; `make bench-queue` measures with it.

do {
    switch options.scenario {
    case "transport": transport(Array(CommandLine.arguments.dropFirst(2)))
    case "enqueue": try await enqueue(sending: false)
    case "mixed": try await enqueue(sending: true)
    case "deliver": try await deliver()
    case "fetch": try await fetch()
    case "idle": try idle()
    case "state": try await state()
    case "walk": try await walk()
    case "fill": try await fill()
    case "bench-enqueue": try await measureEnqueuing()
    case "bench-drain": try await measureDraining()
    case "bench-bare-drain": await measureBareTransport()
    case "bench-fair": try await measureFairness()
    case "bench-open": try await measureOpening()
    default:
        FileHandle.standardError.write(Data("OfflineScenarios: there is no such scenario\n".utf8))
        exit(64)
    }
} catch {
    say(["error": "\(error)"])
    exit(1)
}
