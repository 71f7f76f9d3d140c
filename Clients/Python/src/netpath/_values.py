# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""What netpath says, as values."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any, List, Mapping, Optional, Tuple, Type, TypeVar

SCHEMA = 1

_Choice = TypeVar("_Choice", bound=enum.Enum)


class Status(enum.Enum):
    """Whether there is a path. ``UNKNOWN`` never means "no"."""

    UNKNOWN = "unknown"
    UNSATISFIED = "unsatisfied"
    REQUIRES_CONNECTION = "requiresConnection"
    SATISFIED = "satisfied"


class Internet(enum.Enum):
    """What probes say of the internet, where the configuration has some."""

    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"
    PORTAL = "portal"
    REACHABLE = "reachable"


class Reachability(enum.Enum):
    """Whether packets to a host would be sent."""

    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"
    REACHABLE = "reachable"
    CELLULAR = "cellular"


@dataclass(frozen=True)
class Reason:
    """Why something is so."""

    code: str
    """A stable name, such as ``noCarrier``; an open list."""
    message: str
    """A sentence for people."""


@dataclass(frozen=True)
class Interface:
    """A network interface."""

    name: str
    index: Optional[int]
    type: str
    """``wifi``, ``cellular``, ``wired``, ``loopback`` or ``other``."""


@dataclass(frozen=True)
class Path:
    """A network path."""

    status: Status
    reason: Reason
    is_stale: bool = False
    """Whether this is the last known path, which cannot be confirmed now."""
    interfaces: Tuple[Interface, ...] = ()
    """In order of preference: those that carry the path first."""
    gateways: Tuple[str, ...] = ()
    dns_servers: Tuple[str, ...] = ()
    internet: Internet = Internet.UNKNOWN
    portal_url: Optional[str] = None
    is_expensive: bool = False
    is_constrained: bool = False
    supports_ipv4: bool = False
    supports_ipv6: bool = False
    supports_dns: bool = False
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The whole document; empty where there is none."""

    @property
    def is_satisfied(self) -> bool:
        """Whether packets to the internet would be sent."""
        return self.status is Status.SATISFIED

    @property
    def interface(self) -> Optional[Interface]:
        """The first interface."""
        return self.interfaces[0] if self.interfaces else None


@dataclass(frozen=True)
class Host:
    """Whether packets to a host would be sent."""

    status: Reachability
    reason: Reason
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_reachable(self) -> bool:
        """Whether they would."""
        return self.status in (Reachability.REACHABLE, Reachability.CELLULAR)


class Unusable(Exception):
    """Why what answers is of no use."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.reason = Reason(code, message)

    @property
    def path(self) -> Path:
        return Path(Status.UNKNOWN, self.reason)


def document(line: bytes) -> Mapping[str, Any]:
    """The object on a line, if it is one of netpath's."""
    bad = Unusable("badAnswer", "what answers in netpath's place is not netpath")
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise bad from None
    if not isinstance(value, dict):
        raise bad
    if "error" in value and "schema" not in value:
        raise Unusable("refused", _text(value, "error"))
    schema = value.get("schema")
    if type(schema) is not int or not isinstance(value.get("status", 0), (str, type(None))):
        raise bad
    if schema != SCHEMA:
        raise Unusable("newerVersion", "netpath is newer than this package understands")
    return value


def path(line: bytes) -> Path:
    """The path on a line."""
    value = document(line)
    return Path(
        status=_choice(Status, value.get("status")),
        reason=_reason(value),
        is_stale=value.get("stale") is True,
        interfaces=tuple(
            Interface(_text(each, "name"), _index(each), _text(each, "type"))
            for each in _objects(value, "interfaces")
        ),
        gateways=tuple(_text(each, "address") for each in _objects(value, "gateways")),
        dns_servers=tuple(each for each in _list(value, "dnsServers") if isinstance(each, str)),
        internet=_choice(Internet, value.get("internet")),
        portal_url=_text(value, "portalURL") or None,
        is_expensive=value.get("isExpensive") is True,
        is_constrained=value.get("isConstrained") is True,
        supports_ipv4=value.get("supportsIPv4") is True,
        supports_ipv6=value.get("supportsIPv6") is True,
        supports_dns=value.get("supportsDNS") is True,
        document=value,
    )


def host(line: bytes) -> Host:
    """What is said of a host on a line."""
    value = document(line)
    return Host(_choice(Reachability, value.get("status")), _reason(value), value)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key)
    return text if isinstance(text, str) else ""


def _list(value: Mapping[str, Any], key: str) -> List[Any]:
    items = value.get(key)
    return items if isinstance(items, list) else []


def _objects(value: Mapping[str, Any], key: str) -> List[Mapping[str, Any]]:
    return [item for item in _list(value, key) if isinstance(item, dict)]


def _index(value: Mapping[str, Any]) -> Optional[int]:
    index = value.get("index")
    return index if type(index) is int and index > 0 else None


def _reason(value: Mapping[str, Any]) -> Reason:
    reason = value.get("reason")
    if not isinstance(reason, dict):
        return Reason("noVerdict", "no backend of netpath has a verdict")
    return Reason(_text(reason, "code"), _text(reason, "message"))


def _choice(kind: Type[_Choice], value: object) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        return kind("unknown")
