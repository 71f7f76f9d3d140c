// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Network

let monitor = NWPathMonitor()
for await path in monitor { print(path.status, path.availableInterfaces.map(\.name)) }
