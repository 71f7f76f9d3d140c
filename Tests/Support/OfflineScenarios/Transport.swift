// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import Glibc
import NetPathCurl
import NetPathHTTP
import Synchronization

// The transport alone, in a process of its own, to count what it uses. Every command writes a line of JSON: how the last request ended, the most memory that was ever resident, and the descriptors that are open.
//
//   OfflineScenarios transport get URL             one request
//   OfflineScenarios transport upload FILE URL     one request with a body from a file
//   OfflineScenarios transport download URL FILE   one response into a file
//   OfflineScenarios transport many N URL          requests one after the other; a line after a tenth of them, and at the end
//   OfflineScenarios transport rate N C URL        requests, C at a time, and how many of them in a second
//   OfflineScenarios transport lookup URL URL      one request that is cancelled at once, another, and how long that one took
//   OfflineScenarios transport idle URL            one request, and then nothing until the standard input ends

/// Sends a request, and waits without Swift's pool or libdispatch's, whose threads wake by themselves now and then.
private func send(_ request: TransportRequest) -> Result<TransportResponse, TransportError> {
    let result = Mutex<Result<TransportResponse, TransportError>?>(nil)
    let done = DispatchSemaphore(value: 0)
    _ = CurlTransport.shared.start(request) { ended in
        result.withLock { $0 = ended }
        done.signal()
    }
    done.wait()
    return result.withLock { $0 } ?? .failure(TransportError(.other, progress: .notSent, message: "nothing"))
}

private func report(_ result: Result<TransportResponse, TransportError>, _ more: String = "") {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    let outcome =
        switch result {
        case .success(let response): #""status":\#(response.status)"#
        case .failure(let error): #""reason":"\#(error.reason)","progress":"\#(error.progress)""#
        }
    print(
        "{\(outcome),\"peakKiB\":\(residentMemory("VmHWM")),\"residentKiB\":\(residentMemory("VmRSS")),"
            + "\"descriptors\":\(descriptors)\(more)}"
    )
    fflush(nil)
}

/// Sends many requests, some of them at once, each when one before it has ended.
private final class Stream: Sendable {
    private let rest: Mutex<(starting: Int, running: Int)>
    private let request: TransportRequest
    private let done = DispatchSemaphore(value: 0)

    init(_ request: TransportRequest, count: Int) {
        self.request = request
        self.rest = Mutex((count, 0))
    }

    func run(atOnce: Int) {
        for _ in 0..<atOnce { self.next() }
        self.done.wait()
    }

    private func next() {
        let isStarting = self.rest.withLock { rest in
            guard rest.starting > 0 else { return false }
            rest.starting -= 1
            rest.running += 1
            return true
        }
        guard isStarting else { return }
        _ = CurlTransport.shared.start(self.request) { result in
            if case .failure(let error) = result { fatalError(error.message) }
            let isLast = self.rest.withLock { rest in
                rest.running -= 1
                return rest.running == 0 && rest.starting == 0
            }
            if isLast { self.done.signal() } else { self.next() }
        }
    }
}

func transport(_ arguments: [String]) {
    switch (arguments.first, arguments.count) {
    case ("get", 2): report(send(TransportRequest(url: arguments[1])))
    case ("upload", 3): report(send(TransportRequest(method: "PUT", url: arguments[2], body: .file(arguments[1]))))
    case ("download", 3): report(send(TransportRequest(url: arguments[1], responseFile: arguments[2])))
    case ("many", 3):
        let count = Int(arguments[1]) ?? 0
        let request = TransportRequest(method: "POST", url: arguments[2], body: .bytes(Array("hello".utf8)))
        for number in 1...count {
            let result = send(request)
            if number == count / 10 || number == count { report(result) }
        }
    case ("rate", 4):
        let count = Int(arguments[1]) ?? 0
        let request = TransportRequest(method: "POST", url: arguments[3], body: .bytes(Array("hello".utf8)))
        let start = ContinuousClock.now
        Stream(request, count: count).run(atOnce: Int(arguments[2]) ?? 1)
        let perSecond = Double(count) / ((ContinuousClock.now - start) / .seconds(1))
        report(send(request), ",\"perSecond\":\(Int(perSecond))")
    case ("lookup", 3):
        let ended = DispatchSemaphore(value: 0)
        let task = CurlTransport.shared.start(TransportRequest(url: arguments[1])) { _ in ended.signal() }
        // Its lookup has begun when another request has been answered.
        _ = send(TransportRequest(url: arguments[2]))
        let start = ContinuousClock.now
        task.cancel()
        ended.wait()
        let result = send(TransportRequest(url: arguments[2]))
        report(result, ",\"milliseconds\":\((ContinuousClock.now - start) / .milliseconds(1))")
    case ("idle", 2):
        report(send(TransportRequest(url: arguments[1])))
        _ = readLine()
    default: fatalError("see the source for how to call this")
    }
}
