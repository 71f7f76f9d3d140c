# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""How a scenario is written down: a function with a title, which gets its world and what starts the views.

    @scenario("a cable is pulled", quick=True)
    def cable(world, watch):
        world.veth("lan0", 1)
        views = watch()
        views.expect("at the start", "satisfied routed wired")
"""

from dataclasses import dataclass
from typing import Callable


class Impossible(Exception):
    """This machine cannot play the scenario, and why."""


@dataclass
class Entry:
    title: str
    function: Callable
    quick: bool
    views: tuple
    without_ipv6: bool


entries = []


def scenario(title, quick=False, views=("default", "netlink", "sysfs"), without_ipv6=False):
    def add(function):
        entries.append(Entry(title, function, quick, views, without_ipv6))
        return function
    return add
