// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCLI

NetPathTool.main(ServeTool.self) { context in
    context.facts = ServeTool.facts
    context.serve = { command in try command.perform() }
}
