// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc

/// What is fuzzed: the variable NETPATH_FUZZ_TARGET names one.
let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "netlink": fuzzNetlink, "wireguard": fuzzWireGuard, "procfs": fuzzProcfs, "resolver": fuzzResolver,
    "configuration": fuzzConfiguration, "override": fuzzOverride, "plugin": fuzzPlugin, "answer": fuzzAnswer,
    "recording": fuzzRecording, "socket": fuzzSocket, "request": fuzzRequest, "row": fuzzRow,
]

private let target: @Sendable ([UInt8]) -> Void = {
    let name = unsafe getenv("NETPATH_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = targets[name] else {
        fatalError("NETPATH_FUZZ_TARGET is one of: \(targets.keys.sorted().joined(separator: " "))")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
