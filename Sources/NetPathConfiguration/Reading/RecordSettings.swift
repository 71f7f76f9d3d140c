// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import NetPath

/// What `netpath run` records of the past.
package struct RecordSettings: Hashable, Sendable {
    /// Whether it records at all.
    package var isOn = true
    /// The folder of the recording; nil for the one where services keep what stays.
    package var folder: String?

    /// Creates the settings that are in force unless a configuration says otherwise.
    package init() {}

    /// Reads the section `record`.
    static func read(from root: ConfigurationSection) -> RecordSettings {
        let section = root.nested("record")
        var settings = RecordSettings()
        settings.isOn = section.boolean("enabled", default: true)
        let folder = section.string("folder", default: "")
        if !folder.isEmpty, !folder.hasPrefix("/") { section.reject("folder", "has to be an absolute path") }
        settings.folder = folder.isEmpty ? nil : folder
        return settings
    }
}
