# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Whether this machine has a network path, over what, and if not, why not.

The service of netpath is asked, and where there is none the program is started. Nothing here raises because the network or
netpath is in a bad way: what is not known is ``unknown``, with a reason.
"""

from ._asking import current, reach
from ._values import Host, Interface, Internet, Path, Reachability, Reason, Status
from ._watching import watch

__all__ = ["Host", "Interface", "Internet", "Path", "Reachability", "Reason", "Status", "current", "reach", "watch"]
