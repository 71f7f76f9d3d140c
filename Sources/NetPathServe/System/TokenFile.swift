// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
package import NetPathSystem

/// The file that holds the token.
package enum TokenFile: Sendable {
    /// A file is shorter than this.
    private static let limit = 65_536

    /// Why there is no token.
    package enum Failure: Error, Hashable, Sendable {
        /// The file cannot be read.
        case system(SystemError)
        /// Every user of the machine may read it, or one besides its owner may change it.
        case isPublic
        /// What is in it is too short, or nothing that a header can hold.
        case noToken
    }

    /// Reads the token.
    ///
    /// - Throws: ``Failure``.
    package static func read(_ path: String) throws(Failure) -> SecretToken {
        guard let file = FileDescriptor(unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            throw .system(.last("cannot open it"))
        }
        guard let status = file.status, let bytes = file.read(limit: Self.limit) else {
            throw .system(.last("cannot read it"))
        }
        guard !status.isFile || status.st_mode & 0o026 == 0 else { throw .isPublic }
        guard let token = SecretToken(String(decoding: bytes, as: UTF8.self)) else { throw .noToken }
        return token
    }
}
