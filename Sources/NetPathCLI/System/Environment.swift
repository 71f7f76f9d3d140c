// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// `environ` is a variable to C, hence the attributes; nothing in this process ever changes it.
@unsafe @preconcurrency import Glibc

/// The environment of the process.
///
/// Of a name that is set twice the first value counts, as for getenv(3).
func processEnvironment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
        let pair = unsafe String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if pair.count == 2, variables[String(pair[0])] == nil { variables[String(pair[0])] = String(pair[1]) }
        unsafe entry += 1
    }
    return variables
}
