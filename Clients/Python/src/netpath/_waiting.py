# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Waiting for a time, in a way that loses no cancellation."""

from __future__ import annotations

import asyncio
from typing import Coroutine, Optional, TypeVar

Result = TypeVar("Result")


async def within(seconds: Optional[float], coroutine: Coroutine[object, object, Result]) -> Result:
    """What ``asyncio.wait_for`` does; before Python 3.12 that one loses a cancellation that comes together with a result."""
    task = asyncio.ensure_future(coroutine)
    # What fails after the caller was cancelled is of no interest.
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not done:
        raise asyncio.TimeoutError
    return task.result()
