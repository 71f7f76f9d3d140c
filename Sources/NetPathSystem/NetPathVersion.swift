// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// The version of netpath: what `--version` answers, and what requests carry as their user agent.
package let netPathVersion = "0.1.0"
