// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Network
import Sibling

#if canImport(Network)
print("imports Network: true")
#endif
let monitor = NWPathMonitor()
let known = DispatchSemaphore(value: 0)
monitor.pathUpdateHandler = { path in
    print("online:", path.status == .satisfied)
    monitor.cancel()
    known.signal()
}
// Through the module's own name, as code does that has a type of the same name.
let queue: Dispatch.DispatchQueue = .global()
let start: (Network.NWPathMonitor) -> (DispatchQueue) -> Void = Network.NWPathMonitor.start(queue:)
start(monitor)(queue)
known.wait()
checkConformances(monitor.currentPath)
print("sibling unaffected:", !believesToBeOnApplePlatforms)
