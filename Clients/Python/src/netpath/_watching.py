# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""Every path, as it comes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import AsyncGenerator, AsyncIterator, Optional

from . import _places, _processes
from ._values import Path, Unusable
from ._values import path as read_path
from ._waiting import within

# A line that was begun has to end.
_LINE = 5.0
# How long the last path stands, marked stale, while the service is started anew; and when the program is started.
_GRACE = 0.7
_PATIENCE = 0.4
# What lived so long was no failure.
_STEADY = 5.0
_LONGEST_PAUSE = 5.0


async def watch() -> AsyncGenerator[Path, None]:
    """The present path, then every change, for ever.

    Changes that come faster than they are taken become one. While the service is started anew the last path stands for
    0.7 s, marked stale; then the program stands in, and where there is none the path is ``unknown``. Leave the loop with
    ``contextlib.aclosing`` to have the connection, or the program, ended at once.
    """
    follower = _Follower()
    task = asyncio.ensure_future(follower.run())
    task.add_done_callback(lambda _: follower.news.set())
    last: Optional[Path] = None
    try:
        while True:
            await follower.news.wait()
            follower.news.clear()
            if task.done():
                task.result()
            if follower.path is not None and follower.path != last:
                last = follower.path
                yield last
    finally:
        await _end(task)


class _Follower:
    """Keeps the newest path: that of the service, or of a program that stands in for it."""

    def __init__(self) -> None:
        self.path: Optional[Path] = None
        self.news = asyncio.Event()
        self._is_live = False
        self._stand_in: Optional[asyncio.Future[None]] = None
        self._grace: Optional[asyncio.TimerHandle] = None
        self._reason = Unusable("noService", "netpath does not run")

    def _show(self, path: Path) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        self.path = path
        self.news.set()

    def _give_up(self) -> None:
        if not self._is_live and self._grace is None:
            self._show(self._reason.path)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        try:
            while True:
                began = loop.time()
                try:
                    async for path in _service():
                        self._is_live = True
                        await self._end_stand_in()
                        self._show(path)
                except Unusable as error:
                    self._reason = error
                was_live, self._is_live = self._is_live, False
                if was_live and self.path is not None:
                    self._show(replace(self.path, is_stale=True))
                    self._grace = loop.call_later(_GRACE, self._lapse)
                    failures = 0 if loop.time() - began > _STEADY else failures
                if self._stand_in is None:
                    self._stand_in = asyncio.ensure_future(self._run_stand_in(_PATIENCE if was_live else 0))
                # One that is started anew comes soon; one that is not netpath's does not become so.
                pause = 0.02 if self._reason.reason.code == "noService" else 1.0
                await asyncio.sleep(min(pause * 2 ** min(failures, 10), _LONGEST_PAUSE))
                failures += 1
        finally:
            if self._grace is not None:
                self._grace.cancel()
            await self._end_stand_in()

    def _lapse(self) -> None:
        self._grace = None
        self._give_up()

    async def _run_stand_in(self, delay: float) -> None:
        failures = 0
        while True:
            await asyncio.sleep(delay)
            try:
                async for path in _program():
                    failures = 0
                    self._show(path)
            except Unusable as error:
                if _places.program() is not None:
                    self._reason = error
            self._give_up()
            delay = min(2.0**failures, 60.0)
            failures += 1

    async def _end_stand_in(self) -> None:
        task, self._stand_in = self._stand_in, None
        if task is not None:
            await _end(task)


async def _end(task: asyncio.Future[None]) -> None:
    task.cancel()
    # Not the task itself, whose cancellation and the caller's look the same.
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) and not isinstance(error, Unusable):
        raise error


async def _service() -> AsyncGenerator[Path, None]:
    client = _places.connect()
    reader, writer = await asyncio.open_unix_connection(sock=client)
    try:
        writer.write(_places.WATCH)
        async for path in _paths(reader, _places.HELLO):
            yield path
    finally:
        writer.close()


async def _program() -> AsyncGenerator[Path, None]:
    program = _places.program()
    if program is None:
        raise Unusable("noService", "netpath does not run, and the program is not installed")
    try:
        process = await _processes.start(program, "watch", "--json")
    except OSError as error:
        raise Unusable("noAnswer", f"netpath cannot be started: {error.strerror}") from None
    try:
        assert process.stdout
        async for path in _paths(process.stdout, _places.PROGRAM_HELLO):
            yield path
    finally:
        await _processes.end(process)


async def _paths(reader: asyncio.StreamReader, hello: float) -> AsyncIterator[Path]:
    """The paths on the lines of a stream, until it ends."""
    end: Optional[float] = asyncio.get_running_loop().time() + hello
    rest = bytearray()
    while True:
        left = None if end is None else end - asyncio.get_running_loop().time()
        try:
            part = await within(left, reader.read(1 << 16))
        except asyncio.TimeoutError:
            raise Unusable("noAnswer", "netpath does not answer") from None
        except OSError:
            part = b""
        if not part:
            raise Unusable("noService", "netpath does not run")
        begin = 0
        while (at := part.find(b"\n", begin)) >= 0:
            path = read_path(bytes(rest) + part[begin:at])
            rest.clear()
            begin, end = at + 1, None
            yield path
        rest += part[begin:]
        if len(rest) > _places.LIMIT:
            raise Unusable("badAnswer", "what answers in netpath's place is not netpath")
        if rest and end is None:
            end = asyncio.get_running_loop().time() + _LINE
