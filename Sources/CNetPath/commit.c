// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

#include "commit.h"

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

// In a function, so that another commit compiles this file anew and no Swift.
const char *netpath_commit(void) { return TEXT(NETPATH_COMMIT); }
