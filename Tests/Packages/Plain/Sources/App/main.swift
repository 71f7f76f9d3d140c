// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Interfaces
import Network
import Paths

let path = NWPathMonitor().currentPath
print("online:", isOnline(path))
print("through:", path.availableInterfaces.first?.type.title ?? "nothing")
