// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import ArgumentParser
import NetPathSystem

/// How a command writes its answer.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write JSON, one object on one line; commands that keep running write one for every change.")
    var json = false

    @Option(help: ArgumentHelp("When to use colour in text for people.", valueName: "when"))
    var color = ColorChoice.auto

    /// How text for people is laid out on standard output.
    var style: TextStyle { self.color.style }

    /// Writes one document, as JSON or as text.
    ///
    /// - Throws: `SystemError` when standard output takes no more, for example because the disk is full.
    func write(_ document: @autoclosure () -> JSONNode, or text: (TextStyle) -> String) throws {
        try ToolContext.current.write(self.json ? document().line + "\n" : text(self.style))
    }
}

extension ColorChoice: ExpressibleByArgument {
    /// How text for people is laid out on standard output.
    var style: TextStyle {
        let context = ToolContext.current
        return TextStyle(
            isColored: self.isColored(isTerminal: context.isTerminal, environment: context.environment),
            width: context.columns
        )
    }
}
