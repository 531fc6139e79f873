"""Execute the notebook of a job with papermill, and hold what happened against the specimen's evidence."""

from __future__ import annotations

import contextlib
import copy
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import script
from harness.errors import ChildDied
from harness.notebooks import build
from harness.process import environment, launch, warm
from harness.runs.execute import Job, conclude, request_for
from harness.runs.report import RunReport

_ERROR_MARKERS = {"papermill-error-cell-tag"}


@dataclass(frozen=True)
class Executed:
    """An executed notebook (nbformat 4) and the report of the run, with its verdict."""

    job: Job
    notebook: Any
    report: RunReport


def execute_many(jobs: Sequence[Job], *, workers: int, timeout_s: float | None = None) -> Iterator[Executed]:
    """Execute jobs, at most `workers` side by side, from a warm parent per framework; yields each as it ends.

    An exception of the script is part of the notebook. Raises `ChildDied` where a kernel died or took too long.
    """
    for framework in dict.fromkeys(job.framework for job in jobs):
        group = [job for job in jobs if job.framework == framework]
        share = max(1, min(workers, len(group)))
        offline = all(job.offline for job in group)
        variables = environment.for_script(framework, quiet=True, offline=offline, jobs=share)
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(_pool(framework, variables))
            threads = stack.enter_context(ThreadPoolExecutor(share))
            for pending in [threads.submit(_execute, job, pool, timeout_s or job.timeout_s) for job in group]:
                yield pending.result()


@contextlib.contextmanager
def _pool(framework: str, variables: dict[str, str]) -> Iterator[Any]:
    from harness.notebooks.provisioner import MODULE, Pool

    with warm.start(framework, variables, (MODULE, "ipykernel.kernelapp")) as parent:
        yield Pool(parent)


def _execute(job: Job, pool: Any, limit_s: float) -> Executed:
    with request_for(job, quiet=True) as request:
        output = request.events.parent / "kernel.log"
        notebook = _papermill(job, _manager(pool, request, output, limit_s), request.events.parent, limit_s)
        report = conclude(job, request, launch.Outcome(0, None, timed_out=False, wall_s=0.0), limit_s)
        return Executed(job, notebook, report)


def _manager(pool: Any, request: launch.Request, output: Path, limit_s: float) -> Any:
    from jupyter_client.manager import AsyncKernelManager

    from harness.notebooks.provisioner import WarmProvisioner

    manager = AsyncKernelManager(kernel_name="python3", connection_file=str(request.events.parent / "kernel.json"))
    manager.provisioner = WarmProvisioner(pool, request, output, limit_s, parent=manager,
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
            cell.outputs = merged(cell.outputs)
    return found


def merged(outputs: Sequence[Any]) -> list[Any]:
    """Outputs with neighbouring pieces of one stream put together: how many there were is chance."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == "stream" and found[-1].output_type == "stream" and found[-1].name == output.name:
            found[-1].text += output.text
        else:
            found.append(copy.deepcopy(output))
    return found
