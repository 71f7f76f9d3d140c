// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// For `BackgroundThread`, which lives below, because more than backends need it.
@_exported public import NetPathSystem
