// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath
import NetPathConfiguration

extension ToolContext {
    /// Becomes the program that can run the backends of a configuration, with the command line as it is; does nothing
    /// where this one can.
    ///
    /// - Throws: ``ToolFailure`` when that program cannot be executed, or lacks backends of this one.
    func becomeProgram(running configuration: LoadedConfiguration) throws {
        guard let backend = configuration.backends.first(where: { $0.mode != .off && $0.program != nil }),
            let name = backend.program
        else { return }
        let what = "the backend '\(backend.name)' of type \(backend.type)"
        // The other program does not know backends that were added to this one.
        guard self.registry.all.map(\.type) == BackendRegistry.builtIn.all.map(\.type) else {
            throw ToolFailure(.failure, "\(what) has no HTTP transport: register the type with one")
        }
        try self.become(name, for: what)
    }
}
