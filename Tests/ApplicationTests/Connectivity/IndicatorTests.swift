// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathTestKit
import Testing

@testable import Connectivity

/// The one line that is there while the network is not.
@Suite(.timeLimit(.minutes(5)))
struct IndicatorTests {
    private static let erase = "\r\u{1B}[K"

    private func drawn(_ text: String) -> String { "\u{1B}[?7l\(text)\u{1B}[?7h" }

    @Test func terminalLineIsErasedBeforeOthersPrint() {
        var line = BannerLine(banner: "∆ No Network", restored: "back", isTerminal: true)
        #expect(line.print("one") == "one\n")
        #expect(line.show(isOffline: false) == "")
        #expect(line.show(isOffline: true) == self.drawn("∆ No Network"))
        #expect(line.show(isOffline: true) == "")
        #expect(line.print("two") == "\(Self.erase)two\n\(self.drawn("∆ No Network"))")
        #expect(line.show(progress: "50 %") == "\(Self.erase)\(self.drawn("∆ No Network  50 %"))")
        #expect(line.show(isOffline: false) == "\(Self.erase)\(self.drawn("50 %"))")
        #expect(line.show(progress: "50\n%") == "")
        #expect(line.show(progress: nil) == Self.erase)
        #expect(line.show(isOffline: true) == self.drawn("∆ No Network"))
        #expect(line.clear() == Self.erase)
        #expect(line.clear() == "")
    }

    @Test func aLinePerTransitionElsewhere() {
        var line = BannerLine(banner: "∆ No Network", restored: "back", isTerminal: false)
        #expect(line.show(isOffline: false) == "")
        #expect(line.show(isOffline: true) == "∆ No Network\n")
        #expect(line.show(progress: "50 %") == "")
        #expect(line.print("one") == "one\n")
        #expect(line.show(isOffline: true) == "")
        #expect(line.show(isOffline: false) == "back\n")
        #expect(line.show(isOffline: true) == "∆ No Network\n")
        #expect(line.clear() == "")
    }

    @Test func followsTheNetwork() async throws {
        let scripted = Scripted(.noLink)
        let written = Calls<String>()
        let output = IndicatorOutput(isTerminal: false, write: written.add)
        let indicator = OfflineIndicator(restored: "back", monitor: scripted.monitor, output: output)
        scripted.monitor.start()
        indicator.start()
        indicator.start()
        #expect(try await written.next() == "∆ No Network\n")
        scripted.script.report(.wifi)
        #expect(try await written.next() == "back\n")
        indicator.print("working")
        #expect(try await written.next() == "working\n")
        indicator.stop()
        scripted.script.report(.noLink)
        await scripted.settle()
        indicator.start()
        #expect(try await written.next() == "∆ No Network\n")
    }

    @Test func disappearsWithItsLastReference() async throws {
        let scripted = Scripted(.noLink)
        scripted.monitor.start()
        let written = Calls<String>()
        do {
            let output = IndicatorOutput(isTerminal: true, write: written.add)
            let indicator = OfflineIndicator("offline", monitor: scripted.monitor, output: output)
            indicator.start()
            #expect(try await written.next() == self.drawn("offline"))
        }
        #expect(try await written.next() == Self.erase)
    }

    @Test func statusOnATerminal() async throws {
        let scripted = Scripted(.wifi)
        let written = Calls<String>()
        let view = TerminalStatusView(
            monitor: scripted.monitor,
            output: IndicatorOutput(isTerminal: true, write: written.add)
        )
        view.appear()
        view.appear()
        let online = try await written.next()
        #expect(online.hasPrefix(Self.erase) && online.contains("[30;42m ● Online via WiFi "))
        scripted.script.report(.noLink)
        #expect(try await written.next().contains("[30;41m ○ Offline not connected "))
        view.disappear()
        #expect(try await written.next() == Self.erase)
        try await scripted.script.waitForEnd(ofRun: 1)
        scripted.script.report(.wifi)
        view.appear()
        #expect(try await written.next() == online)
    }

    @Test func statusBehindAPortal() async throws {
        let written = Calls<String>()
        let output = IndicatorOutput(isTerminal: false, write: written.add)
        let delivery = ConnectivityDelivery.queue(DispatchQueue(label: "portal"))
        let view = TerminalStatusView(monitor: .preview(.captive, deliverOn: delivery), output: output)
        view.appear()
        #expect(try await written.next() == "◐ Sign In via WiFi\n")
        view.disappear()
    }
}
