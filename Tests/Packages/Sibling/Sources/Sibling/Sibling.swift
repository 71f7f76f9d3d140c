// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#if canImport(Network)
import Network

/// Whether this package was compiled for Apple's platforms.
public let believesToBeOnApplePlatforms = true

/// What such packages do with Apple's module, and what does not compile with any other.
public func describe(_ error: NWError) -> String { "\(error)" }
#else
/// Whether this package was compiled for Apple's platforms.
public let believesToBeOnApplePlatforms = false
#endif
