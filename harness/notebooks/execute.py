"""Execute the notebook of a job with papermill, and hold what happened against the specimen's evidence."""

from __future__ import annotations

import copy
import logging
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import script
from harness.errors import ChildDied
from harness.notebooks import build
from harness.paths import ROOT
from harness.process import launch
from harness.process.pool import Pool
from harness.runs.execute import Job, conclude, request_for
from harness.runs.report import RunReport

MODULE = "harness.notebooks.kernel"
_PLACES = ((re.escape(sys.prefix) + r"/lib/python[\d.]+/site-packages/", ""), (re.escape(sys.base_prefix) + r"/lib/python[\d.]+/", ""),
           (re.escape(str(ROOT)) + "/", ""), (r"/\S*/ipykernel_\d+/\d+\.py", "the notebook"), (r"/tmp/\w[\w.-]*", "/tmp/..."))  # noqa: S108 - named in outputs
_ERROR_MARKERS = {"papermill-error-cell-tag"}


@dataclass(frozen=True)
class Executed:
    """An executed notebook (nbformat 4) and the report of the run, with its verdict."""

    job: Job
    notebook: Any
    report: RunReport


# What a warm parent should have imported besides a framework.
PRELOAD = (MODULE, "ipykernel.kernelapp")


def execute(job: Job, pool: Pool, timeout_s: float | None = None) -> Executed:
    """Execute the notebook of a job in a kernel from a pool. An exception of the script is part of the notebook.

    Raises `ChildDied` where the kernel died or took too long.
    """
    limit = timeout_s or job.timeout_s
    with request_for(job, quiet=True) as request:
        manager = _manager(pool, request, limit)
        kernel = manager.provisioner
        notebook = _papermill(job, manager, request.events.parent, limit)
        report = conclude(job, request, kernel.outcome, limit)
        return Executed(job, notebook, report)


def _manager(pool: Pool, request: launch.Request, limit_s: float) -> Any:
    from jupyter_client.manager import AsyncKernelManager

    from harness.notebooks.provisioner import WarmProvisioner

    manager = AsyncKernelManager(kernel_name="python3", connection_file=str(request.events.parent / "kernel.json"))
    manager.provisioner = WarmProvisioner(pool, request, request.noise or request.events.with_name("kernel.log"), limit_s, parent=manager,
                                          kernel_spec=manager.kernel_spec, kernel_id=request.events.parent.name)
    return manager


def _papermill(job: Job, manager: Any, folder: Path, limit_s: float) -> Any:
    import papermill
    from jupyter_core.utils import run_sync
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    plain = build.notebook(script.read(job.path))
    target = folder / "executed.ipynb"
    logging.getLogger("papermill").setLevel(logging.ERROR)
    try:
        papermill.execute_notebook(copy.deepcopy(plain), str(target), job.values, kernel_name="python3", progress_bar=False,
                                   km=manager, execution_timeout=int(limit_s))
    except papermill.PapermillExecutionError:
        pass  # the cells up to the error have run, and the notebook is written
    except (CellTimeoutError, DeadKernelError) as error:
        raise ChildDied(f"the notebook of {job.name} did not come to its end: {str(error).splitlines()[0]}") from None
    finally:
        if manager.has_kernel:
            run_sync(manager.shutdown_kernel)()
    return _clean(target)


def _clean(path: Path) -> Any:
    """The executed notebook without papermill's banners and timings, which differ from run to run."""
    import nbformat

    found = nbformat.read(path, as_version=4)
    found.cells = [cell for cell in found.cells if not _ERROR_MARKERS & set(cell.metadata.get("tags", []))]
    found.metadata.pop("papermill", None)
    for cell in found.cells:
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if cell.get("outputs"):
            cell.outputs = [_tidy(output) for output in merged(cell.outputs)]
    return found


def _tidy(output: Any) -> Any:
    """An output that says the same wherever it was made: no folders of this machine, cells instead of the kernel's scratch files."""
    if output.output_type == "stream":
        output.text = tidy(output.text)
    elif output.output_type == "error":
        output.evalue = tidy(output.evalue)
        output.traceback = [tidy(line) for line in output.traceback]
    return output


def tidy(text: str) -> str:
    """Text without what differs from machine to machine."""
    for pattern, new in _PLACES:
        text = re.sub(pattern, new, text)
    return text


def merged(outputs: Sequence[Any]) -> list[Any]:
    """Outputs with neighbouring pieces of one stream put together: how many there were is chance."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == "stream" and found[-1].output_type == "stream" and found[-1].name == output.name:
            found[-1].text += output.text
        else:
            found.append(copy.deepcopy(output))
    return found
