// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Many files import only Network and use queues.
@_exported public import Dispatch

@_exported public import protocol LinuxNetworkPath.IPAddress
@_exported public import struct LinuxNetworkPath.IPv4Address
@_exported public import struct LinuxNetworkPath.IPv6Address
@_exported public import enum LinuxNetworkPath.NWEndpoint
@_exported public import struct LinuxNetworkPath.NWInterface
@_exported public import struct LinuxNetworkPath.NWPath
@_exported public import class LinuxNetworkPath.NWPathMonitor
@_exported public import struct LinuxNetworkPath.NWTXTRecord
@_exported public import class LinuxNetworkPath.nw_endpoint_t
