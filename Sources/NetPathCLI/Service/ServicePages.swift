// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What a service answers.
enum ServiceAnswer: Sendable {
    /// A line, or a few.
    case whole([UInt8])
    /// The newest path with its number; where it is watched, those with higher ones follow.
    case path([UInt8], sequence: UInt64, watches: Bool)
    /// What takes long to make.
    case pages(ServicePages)
}

/// An answer that is made page by page: the next one when the client has read the last.
struct ServicePages: Sendable {
    /// Makes a page, which may be empty, and tells what makes the one after it; nil at the end.
    let make: @Sendable () -> (page: [UInt8], rest: ServicePages?)
}
