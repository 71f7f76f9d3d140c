// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCLI

NetPathTool.main(PluginTool.self) { context in
    context.facts = PluginTool.facts
    context.plugins = { command in
        switch command {
        case let command as CheckPluginCommand: try command.perform()
        case let command as ComparePluginCommand: try command.perform()
        default: throw ToolFailure(.failure, "this program lacks the command '\(type(of: command))': report a bug")
        }
    }
}
