// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Paths, reasons and errors of the core are part of this module's API.
@_exported public import NetPath
