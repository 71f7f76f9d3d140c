// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// What `netpath plugin new` writes: the files in `Resources/Plugin`, in which `@NAME@` and the like stand for what
/// differs from one backend to the other.
enum PluginTemplate {
    /// A package with a backend in Swift, which depends on netpath: by a line of the manifest, and what finds its products.
    static func swift(_ name: PluginName, dependency: (line: String, identity: String)) -> [NewFolder.File] {
        let module = name.module
        return [
            ("Package.swift", PackageResources.Package_swift_template),
            ("Sources/\(module)/\(module)Monitor.swift", PackageResources.Monitor_swift_template),
            ("Sources/\(module)/Registration.swift", PackageResources.Registration_swift_template),
            ("Sources/\(module)Command/main.swift", PackageResources.main_swift_template),
            ("Tests/\(module)Tests/\(module)Tests.swift", PackageResources.Tests_swift_template),
            ("netpath.yaml", PackageResources.Package_yaml_template),
            ("README.md", PackageResources.Package_md_template),
            (".gitignore", Array(".build/\n".utf8)),
        ].map { path, template in
            let words = ["DEPENDENCY": dependency.line, "IDENTITY": dependency.identity]
            return NewFolder.File(path: path, text: self.text(template, name, words))
        }
    }

    /// A program in Python.
    static func python(_ name: PluginName) -> [NewFolder.File] {
        self.program(name, PackageResources.Program_py_template, file: "\(name.text).py")
    }

    /// A program in the shell.
    static func shell(_ name: PluginName) -> [NewFolder.File] {
        self.program(name, PackageResources.Program_sh_template, file: "\(name.text).sh")
    }

    /// A backend that is a program of its own, which netpath runs by the type exec.
    private static func program(_ name: PluginName, _ program: [UInt8], file: String) -> [NewFolder.File] {
        [
            (file, program, true),
            ("test", PackageResources.Program_test_template, true),
            ("netpath.yaml", PackageResources.Program_yaml_template, false),
            ("README.md", PackageResources.Program_md_template, false),
        ].map { path, template, isProgram in
            NewFolder.File(path: path, text: self.text(template, name, ["FILE": file]), isProgram: isProgram)
        }
    }

    private static func text(_ template: [UInt8], _ name: PluginName, _ words: [String: String]) -> String {
        let names = ["NAME": name.text, "MODULE": name.module, "TYPE": name.type]
        return names.merging(words) { $1 }.reduce(String(decoding: template, as: UTF8.self)) { text, word in
            text.replacing("@\(word.key)@", with: word.value)
        }
    }
}
