// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPath

@testable import NetPathConfiguration
@testable import NetPathRecording
@testable import OfflineRequests

/// A configuration file, and what `config show` makes of it.
func fuzzConfiguration(_ bytes: [UInt8]) {
    let source = ConfigurationSource(name: "fuzz.yaml", text: String(decoding: bytes, as: UTF8.self))
    do throws(ConfigurationError) {
        _ = try LoadedConfiguration.parse(source).effective.text
    } catch {
        _ = error.description
    }
}

/// What `--set` and NETPATH_SET replace of the embedded default.
func fuzzOverride(_ bytes: [UInt8]) {
    let source = ConfigurationSource(name: "fuzz.yaml", text: LoadedConfiguration.defaultText)
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(ConfigurationError) {
        _ = try LoadedConfiguration.parse(
            source,
            setting: text.split(separator: ";").map(String.init),
            registry: .builtIn
        )
    } catch {
        _ = error.description
    }
}

/// The lines of a recording, and the history that they make.
func fuzzRecording(_ bytes: [UInt8]) {
    var everything = RecordingReader()
    var history = PathHistory()
    Recording.forEachLine(of: bytes[...]) { line in
        for event in (try? everything.read(line)) ?? [] { history.take(event) }
        return true
    }
    history.close(at: 1_800_000_000_000)
    _ = Availability(history.within(.min, .max))
    try? Recording.read(bytes) { _ in }
}

/// The request of a row of the queue's database.
func fuzzRow(_ bytes: [UInt8]) {
    guard let request = try? JSONDecoder().decode(RetryableRequest.self, from: Data(bytes)) else { return }
    _ = "\(request)"
    // What is written reads as what it was written from.
    let text = request.text
    precondition((try? JSONDecoder().decode(RetryableRequest.self, from: Data(text.utf8)))?.text == text)
}
