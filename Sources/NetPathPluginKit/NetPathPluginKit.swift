// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// What blocks or has to be closed lives below, because more than backends need it.
@_exported public import NetPathSystem
