// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPathConfiguration
import NetPathTestKit
import Testing

/// Every way in which people and programs replace a file.
///
/// The kernel queues events before the system call that caused
/// them returns, so nothing has to be waited for.
@Suite struct ConfigurationWatcherTests {
    private let directory: TemporaryDirectory

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func watch(_ name: String = "netpath.yaml") throws -> ConfigurationWatcher {
        try #require(ConfigurationWatcher(path: self.directory[name]))
    }

    private func isReadable(_ watcher: ConfigurationWatcher) -> Bool {
        var entry = pollfd(fd: watcher.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) == 1
    }

    /// Expects a change to be noticed by now, once.
    private func expectChange(_ watcher: ConfigurationWatcher, location: SourceLocation = #_sourceLocation) {
        #expect(self.isReadable(watcher), sourceLocation: location)
        #expect(watcher.takeChanges(), sourceLocation: location)
        // Removing the old watches is told as well, and is no change.
        #expect(!watcher.takeChanges(), sourceLocation: location)
        #expect(!self.isReadable(watcher), sourceLocation: location)
    }

    @Test func writtenInPlace() throws {
        try self.directory.write("netpath.yaml", "1")
        let watcher = try self.watch()
        #expect(!self.isReadable(watcher))
        for text in ["2", "3", "4"] {
            try self.directory.write("netpath.yaml", text)
            self.expectChange(watcher)
        }
    }

    @Test func replacedByRename() throws {
        try self.directory.write("netpath.yaml", "1")
        let watcher = try self.watch()
        for text in ["2", "3", "4"] {
            try self.directory.replace("netpath.yaml", text)
            self.expectChange(watcher)
        }
    }

    @Test func removedAndCreated() throws {
        try self.directory.write("netpath.yaml", "1")
        let watcher = try self.watch()
        try self.directory.remove("netpath.yaml")
        self.expectChange(watcher)
        try self.directory.write("netpath.yaml", "2")
        self.expectChange(watcher)
    }

    @Test func savedByAnEditorThatKeepsABackup() throws {
        try self.directory.write("netpath.yaml", "1")
        let watcher = try self.watch()
        try self.directory.write(".netpath.yaml.swp", "")
        #expect(!watcher.takeChanges())
        try self.directory.move("netpath.yaml", to: "netpath.yaml~")
        try self.directory.write("netpath.yaml", "2")
        self.expectChange(watcher)
        try self.directory.remove("netpath.yaml~")
        #expect(!watcher.takeChanges())
        try self.directory.write("netpath.yaml", "3")
        self.expectChange(watcher)
    }

    /// A mounted ConfigMap: netpath.yaml → ..data/netpath.yaml, ..data → a directory of its own for each version.
    @Test func switchedAsKubernetesDoes() throws {
        // All versions first: a child that another test starts holds the file open for a moment, and its last close is
        // told as late.
        for version in 1...4 { try self.directory.write("..\(version)/netpath.yaml", "\(version)") }
        try self.directory.link("..data", to: "..1")
        try self.directory.link("netpath.yaml", to: "..data/netpath.yaml")
        let watcher = try self.watch()
        for version in 2...4 {
            try self.directory.link("..data_tmp", to: "..\(version)")
            #expect(!watcher.takeChanges())
            let (from, to) = (self.directory["..data_tmp"], self.directory["..data"])
            #expect(unsafe rename(from, to) == 0)
            self.expectChange(watcher)
            try self.directory.remove("..\(version - 1)")
            #expect(!watcher.takeChanges())
        }
    }

    @Test func filesThatChangeIt() throws {
        try self.directory.write("netpath.yaml", "a")
        let watcher = try self.watch()
        try self.directory.write("netpath.yaml.d/10-a.yaml", "a")
        self.expectChange(watcher)
        try self.directory.write("netpath.yaml.d/10-a.yaml", "b")
        self.expectChange(watcher)
        try self.directory.write("netpath.yaml.d/20-b.yaml", "a")
        self.expectChange(watcher)
        try self.directory.replace("netpath.yaml.d/20-b.yaml", "b")
        self.expectChange(watcher)
        try self.directory.remove("netpath.yaml.d/10-a.yaml")
        self.expectChange(watcher)
        try self.directory.remove("netpath.yaml.d")
        self.expectChange(watcher)
        try self.directory.write("netpath.yaml", "b")
        self.expectChange(watcher)
    }

    @Test func fileThatIsNotThereYet() throws {
        let watcher = try self.watch("folder/netpath.yaml")
        try self.directory.makeDirectory("folder")
        self.expectChange(watcher)
        try self.directory.write("folder/netpath.yaml", "1")
        self.expectChange(watcher)
    }

    @Test func relativePathStartsAtTheWorkingDirectory() throws {
        let name = "netpath-watched-\(getpid()).yaml"
        let watcher = try #require(ConfigurationWatcher(path: name))
        defer { _ = unsafe remove(name) }
        let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        self.expectChange(watcher)
    }
}
