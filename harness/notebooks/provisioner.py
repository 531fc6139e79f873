"""Kernels forked from a warm parent, so that importing is paid once: a provisioner, Jupyter's own word for what starts a kernel."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.provisioner_base import KernelProvisionerBase

from harness.notebooks.execute import MODULE
from harness.process.launch import Outcome, Request, end_group
from harness.process.pool import Pool

_POLL_S = 0.05
_FAREWELL_S = 60.0  # the observers read the weights when a kernel ends


class WarmProvisioner(KernelProvisionerBase):  # type: ignore[misc]
    """Life cycle of one kernel that a pool forks, as `jupyter_client` wants it."""

    def __init__(self, pool: Pool, request: Request, output: Path, limit_s: float, **traits: Any) -> None:
        super().__init__(**traits)
        self._pool, self._request, self._output, self._limit_s = pool, request, output, limit_s
        self._number = 0
        self._pid: int | None = None

    @property
    def outcome(self) -> Outcome | None:
        """How the kernel ended, None while it lives or before it has begun."""
        return self._pool.outcome(self._number)

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
        scratch = self._request.events.parent / "tmp"
        self._number, self._pid = self._pool.start(MODULE, request.as_json(), self._output, scratch, self._limit_s)
        return self.connection_info

    def get_shutdown_wait_time(self, recommended: float = 5.0) -> float:
        return max(recommended, _FAREWELL_S)

    async def poll(self) -> int | None:
        if self._pid is None:
            return 0
        outcome = self.outcome
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
