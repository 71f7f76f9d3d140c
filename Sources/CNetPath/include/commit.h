// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#pragma once

/// The commit that the program was built from; "unknown" when the build was not told.
const char *netpath_commit(void);
