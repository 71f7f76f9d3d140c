// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#pragma once

/// The commit that the program was built from; "unknown" when the build was not told.
const char *netpath_commit(void);

/// Has all threads share two heaps of glibc, of which there would be up to eight for each processor.
void netpath_share_heaps(void);
