// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPathCLI
import NetPathCurl
import NetPathHTTPProbe
import OfflineRequests

NetPathTool.main(QueueTool.self) { context in
    context.name = QueueTool.program
    context.facts = QueueTool.facts
    HTTPProbeMonitor.register(in: &context.registry) { CurlTransport(proxy: "") }
    context.offersRequests = { true }
    context.requests = { command in
        guard let command = command as? any RunnableCommand else {
            throw ToolFailure(.failure, "'\(type(of: command))' has no implementation")
        }
        let session = try QueueSession(file: command.file.named)
        defer {
            session.close()
            session.tellDamage()
        }
        do {
            let status = try command.run(in: session)
            // A request that was taken is taken, whatever the file was before.
            let isTold = session.tellDamage() && !(command is SendCommand)
            return isTold && status == .satisfied ? .failure : status
        } catch let error as QueueError {
            throw session.isOver(error) ? ToolFailure(.timedOut, error.description.safe) : ToolFailure(error)
        }
    }
}
