"""A kernel provisioner (Jupyter's own word for what starts a kernel) whose kernels are forked from a warm parent, so that importing is paid once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from harness.process import warm
from harness.process.launch import Outcome, Request, end_group

MODULE = "harness.notebooks.kernel"
_POLL_S = 0.05
_FAREWELL_S = 60.0  # the observers read the weights when a kernel ends


class Pool:
    """Kernels of one warm parent; may be used from several threads."""

    def __init__(self, parent: warm.WarmParent) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._ended: dict[int, Outcome] = {}
        self._next = 0

    def start(self, request: Request, output: Path, limit_s: float) -> tuple[int, int]:
        """Fork a kernel; returns its number and process id."""
        with self._lock:
            self._next += 1
            self._parent.submit(self._next, request, output, request.events.parent / "tmp", limit_s, MODULE)
            return self._next, self._parent.running[self._next].pid

    def outcome(self, number: int) -> Outcome | None:
        """How a kernel ended, None while it lives."""
        with self._lock:
            while number not in self._ended and (ended := self._parent.wait(0.0)) is not None:
                self._ended[ended[0]] = ended[1]
            return self._ended.get(number)


class WarmProvisioner(KernelProvisionerBase):  # type: ignore[misc]
    """Life cycle of one kernel that a pool forks, as `jupyter_client` wants it."""

    def __init__(self, pool: Pool, request: Request, output: Path, limit_s: float, **traits: Any) -> None:
        super().__init__(**traits)
        self._pool, self._request, self._output, self._limit_s = pool, request, output, limit_s
        self._number = 0
        self._pid: int | None = None

    @property
    def has_process(self) -> bool:
        return self._pid is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        self.parent.write_connection_file()
        self.connection_info = self.parent.get_connection_info()
        return await super().pre_launch(cmd=[], **kwargs)  # type: ignore[no-any-return]

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        del cmd, kwargs
        request = replace(self._request, connection_file=Path(self.parent.connection_file))
        self._number, self._pid = self._pool.start(request, self._output, self._limit_s)
        return self.connection_info

    def get_shutdown_wait_time(self, recommended: float = 5.0) -> float:
        return max(recommended, _FAREWELL_S)

    async def poll(self) -> int | None:
        if self._pid is None:
            return 0
        outcome = self._pool.outcome(self._number)
        return None if outcome is None else (outcome.status if outcome.status is not None else -(outcome.signal or signal.SIGKILL))

    async def wait(self) -> int | None:
        while (status := await self.poll()) is None:
            await asyncio.sleep(_POLL_S)
        self._pid = None
        return status

    async def send_signal(self, signum: int) -> None:
        if self._pid is not None and signum != 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signum)

    async def kill(self, restart: bool = False) -> None:
        del restart
        if self._pid is not None:
            await asyncio.to_thread(end_group, self._pid)

    async def terminate(self, restart: bool = False) -> None:
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        del restart
