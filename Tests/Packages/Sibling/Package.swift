// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import PackageDescription

// A package that knows nothing of netpath, and asks whether it is on one of Apple's platforms as many do.
let package = Package(
    name: "Sibling",
    products: [.library(name: "Sibling", targets: ["Sibling"])],
    targets: [.target(name: "Sibling")],
    swiftLanguageModes: [.v6]
)
