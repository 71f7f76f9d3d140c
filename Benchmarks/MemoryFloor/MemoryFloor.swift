// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser

// The least a program of this kind can weigh: a command without a purpose, linked with the libraries of netpath.
@main
struct MemoryFloor: AsyncParsableCommand {
    func run() async {
        print("{}")
    }
}
