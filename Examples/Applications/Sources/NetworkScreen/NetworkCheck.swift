// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// swift-format-ignore-file

import Foundation
import Network

// An application for Apple's platforms that puts a screen above all others while there is no network, unmodified: nothing
// here knows of Linux.
final class NetworkCheck {
    static let shared = NetworkCheck()
    private let queue = DispatchQueue.global()
    private let monitor: NWPathMonitor

    public private(set) var isConnected: Bool = false
    public private(set) var topVCIsNetworkVC: Bool = false

    private var topVC: UIViewController? {
      let scenes = UIApplication.shared.connectedScenes
      let windowScene = scenes.first as? UIWindowScene
      let window = windowScene?.windows.first
      return window?.rootViewController
    }

    private init() {
      self.monitor = NWPathMonitor()
    }

    public func startMonitoring() {
      self.monitor.start(queue: queue)
      self.monitor.pathUpdateHandler = { [weak self] path in
        guard let self = self else { return }

        self.isConnected = path.status == .satisfied

        if self.isConnected && self.topVCIsNetworkVC {
          self.dismissNetworkVC()
        }

        if self.isConnected == false && self.topVCIsNetworkVC == false {
          self.presentNetworkVC()
        }
      }
    }

    private func presentNetworkVC() {
      DispatchQueue.main.async {
        let networkViewController = NetworkViewController()
        networkViewController.modalPresentationStyle = .overFullScreen

        guard let topVC = self.topVC else { return }
        topVC.present(networkViewController, animated: true)
        self.topVCIsNetworkVC = true
      }
    }

    private func dismissNetworkVC() {
      DispatchQueue.main.async {
        guard let topVC = self.topVC else { return }
        topVC.dismiss(animated: true)
        self.topVCIsNetworkVC = false
      }
    }
}
