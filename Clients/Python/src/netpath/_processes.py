# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""The program, as a process of the loop."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess

from ._waiting import within


async def start(*command: str) -> asyncio.subprocess.Process:
    """Starts a program in a session of its own, whose output is read; raises ``OSError`` or ``ValueError``."""
    return await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


async def end(process: asyncio.subprocess.Process) -> None:
    """Ends a program, and waits until it has."""
    assert process.stdout
    try:
        if process.stdout.at_eof():
            # It ends by itself; kill() would take its exit status away from the loop.
            with contextlib.suppress(asyncio.TimeoutError):
                await within(1.0, process.wait())
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
    await process.wait()
