// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Glibc
import NetPath
import NetPathConfiguration
import Testing

/// A folder of its own for one test, removed with everything in it.
final class TemporaryFolder {
    let path: String
    private var names: [String] = []

    init() throws {
        var template = Array("/tmp/netpath-test-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.map { unsafe String(cString: $0) }
        }
        path = try #require(made)
    }

    deinit {
        for name in names.reversed() { _ = unsafe remove("\(path)/\(name)") }
        _ = unsafe remove(path)
    }

    /// A path in the folder, which the caller makes something of.
    func entry(_ name: String) -> String {
        names.append(name)
        return "\(path)/\(name)"
    }

    func file(_ name: String, _ bytes: [UInt8] = []) throws -> String {
        let path = entry(name)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        try #require(written == bytes.count)
        return path
    }
}

@Suite struct FileReadingTests {
    /// The one complaint about a file.
    static func complaint(about path: String) -> String? {
        do throws(ConfigurationError) {
            _ = try ConfigurationFile.read(path)
            return nil
        } catch {
            return error.diagnostics.count == 1 ? error.description : "several: \(error)"
        }
    }

    @Test func readsAFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a.yaml", Array("\u{FEFF}a: 1\n".utf8))
        let source = try ConfigurationFile.read(path)
        #expect(source.name == path)
        #expect(source.bytes == Array("a: 1\n".utf8))
        #expect(try ConfigurationFile.read(try folder.file("empty.yaml")).bytes.isEmpty)
    }

    @Test func readsUpToTheLimitAndNoFurther() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a.yaml", Array(repeating: 0x23, count: 1 << 20))
        #expect(try ConfigurationFile.read(path).bytes.count == 1 << 20)
        try #require(unsafe truncate(path, (1 << 20) + 1) == 0)
        #expect(
            Self.complaint(about: path)
                == "\(path): error: is larger than 1 MiB, which no configuration needs; is it the right file?"
        )
        try #require(unsafe truncate(path, 100_000_000) == 0)
        #expect(Self.complaint(about: path)?.contains("is larger than 1 MiB") == true)
    }

    @Test func readsWhatClaimsToBeEmpty() throws {
        #expect(!(try ConfigurationFile.read("/proc/self/status").bytes.isEmpty))
    }

    @Test func missingFiles() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/none.yaml"
        #expect(
            Self.complaint(about: path)
                == "\(path): error: does not exist; check the path "
                + "('config default' prints a file to start from)"
        )
        let file = try folder.file("file")
        #expect(Self.complaint(about: "\(file)/x.yaml")?.contains("does not exist") == true)
        #expect(Self.complaint(about: "")?.contains("the path is empty") == true)
        #expect(Self.complaint(about: "/dev/null\0.yaml")?.contains("NUL") == true)
        #expect(!ConfigurationFile.mayExist(path))
        #expect(!ConfigurationFile.mayExist("\(file)/x.yaml"))
        #expect(ConfigurationFile.mayExist(file))
    }

    @Test func danglingLinksAreNotPassedOver() throws {
        let folder = try TemporaryFolder()
        let path = folder.entry("link.yaml")
        try #require(unsafe symlink("nowhere.yaml", path) == 0)
        #expect(ConfigurationFile.mayExist(path))
        #expect(Self.complaint(about: path)?.contains("is a symbolic link to a file that does not exist") == true)
    }

    @Test(.timeLimit(.minutes(5))) func whatIsNoFileNeverBlocks() throws {
        let folder = try TemporaryFolder()
        #expect(
            Self.complaint(about: folder.path)
                == "\(folder.path): error: is a directory; name a file in it, such as \(folder.path)/netpath.yaml"
        )
        let pipe = folder.entry("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(Self.complaint(about: pipe) == "\(pipe): error: is a named pipe; name a regular file")
        for device in ["/dev/zero", "/dev/null"] {
            #expect(Self.complaint(about: device) == "\(device): error: is a device; name a regular file")
        }
    }

    @Test func readErrorsAreTold() {
        // A regular file whose first byte cannot be read, by root either.
        #expect(
            Self.complaint(about: "/proc/self/mem") == "/proc/self/mem: error: cannot be read: Input/output error"
        )
    }

    @Test func unreadableFiles() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("secret.yaml", Array("a: 1".utf8))
        try #require(unsafe chmod(path, 0) == 0)
        // Root may read everything; as somebody else, and on this thread alone, it may not.
        // (Swift's Glibc module lacks the function.)
        let symbol = unsafe dlsym(nil, "setfsuid")
        let setFileSystemUser = unsafe unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
        let user = setFileSystemUser(65_534)
        defer { _ = setFileSystemUser(uid_t(user)) }
        #expect(
            Self.complaint(about: path)
                == "\(path): error: cannot be read: permission denied; "
                + "let this user read it and enter the directories above it"
        )
        #expect(ConfigurationFile.mayExist(path))
    }
}
