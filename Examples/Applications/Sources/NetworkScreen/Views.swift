// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation

// What UIKit has and Linux has not: as much of it as this application needs, which writes what would be seen.

final class UIApplication {
    static let shared = UIApplication()
    let connectedScenes: [UIScene] = [UIWindowScene()]
}

class UIScene {}

final class UIWindowScene: UIScene {
    let windows = [UIWindow()]
}

final class UIWindow {
    let rootViewController: UIViewController? = UIViewController()
}

class UIViewController {
    enum ModalPresentationStyle {
        case automatic
        case overFullScreen
    }

    var modalPresentationStyle = ModalPresentationStyle.automatic
    private var presented: UIViewController?

    func present(_ controller: UIViewController, animated: Bool) {
        self.presented = controller
        say("present \(type(of: controller))")
    }

    func dismiss(animated: Bool) {
        guard let presented = self.presented else { return }
        self.presented = nil
        say("dismiss \(type(of: presented))")
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

final class NetworkViewController: UIViewController {}
