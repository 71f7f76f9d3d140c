// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Connectivity
import Foundation
import OpenCombine

// Writes what is published, until it is ended.
@MainActor
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

let model = ObservableNetworkMonitor()
var cancellables: Set<AnyCancellable> = []

// As a view controller does it.
model.$isConnected.dropFirst().removeDuplicates().sink { isConnected in
    MainActor.assumeIsolated { say("published \(isConnected)") }
}.store(in: &cancellables)
model.objectWillChange.prefix(1).sink { MainActor.assumeIsolated { say("will change") } }.store(in: &cancellables)
// As one does who has a monitor.
NetworkMonitor.shared.isConnectedPublisher.sink { isConnected in
    MainActor.assumeIsolated { say("connected \(isConnected)") }
}.store(in: &cancellables)
NetworkMonitor.shared.connectionTypePublisher.sink { type in
    MainActor.assumeIsolated { say(type.phrase) }
}.store(in: &cancellables)
// A subscription that ends is not heard of again.
var once = 0
NetworkMonitor.shared.isConnectedPublisher.first().sink { _ in
    MainActor.assumeIsolated {
        once += 1
        say("once \(once)")
    }
}.store(in: &cancellables)
model.start()
dispatchMain()
