// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// swift-format-ignore-file
// The program of README.md, as it stands there.

import Connectivity                                     // Sources/App/main.swift

if NetworkMonitor.shared.isConnected { print("online", NetworkMonitor.shared.connectionType.phrase) }
NetworkMonitor.shared.mainActorHandler = { isConnected in print(isConnected ? "online" : "offline") }
let token = NetworkMonitor.shared.observe { isConnected in print("and here", isConnected) }
for await update in NetworkMonitor.shared.updates {     // changes of detail, too
    print(update.status, update.connectionType, update.path?.reason.message ?? "")
}
