"""`doctor`: what is installed, and which specimens can run here and why not the others."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

_SHOWN = ("torch", "tensorflow", "tf-keras", "transformers", "datasets", "evaluate", "accelerate", "numpy")


@click.command("doctor", epilog="\b\nExamples:\n  python -m harness doctor\n  python -m harness doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(as_json: bool) -> None:
    """What is installed here, and which specimens can run."""
    from harness.catalog import checkpoints
    from harness.catalog.load import everything
    from harness.errors import HarnessError
    from harness.process.environment import cores
    from harness.runs import availability

    packages = {name: availability.version(name) for name in _SHOWN}
    rows: list[dict[str, Any]] = []
    for bug in everything():
        for script in bug.file.scripts:
            why = availability.obstacle(script)
            devices = {device: availability.device_obstacle(script, device) for device in script.devices}
            rows.append({"bug": bug.id, "framework": script.framework, "runs": why is None, "why_not": why, "devices": devices})
    try:
        minilm = checkpoints.resolve("minilm")
    except HarnessError as error:
        minilm = str(error)
    if as_json:
        click.echo(json.dumps({"python": sys.version.split()[0], "cores": cores(), "cuda_devices": availability.gpus(),
                               "packages": packages, "minilm": minilm, "clash": availability.clash(), "specimens": rows}, indent=2))
        return
    click.echo(f"python        {sys.version.split()[0]}, {cores()} cores, {availability.gpus()} CUDA devices")
    for name, found in packages.items():
        click.echo(f"{name:<13} {found or 'not installed'}")
    click.echo(f"minilm        {minilm}")
    if clash := availability.clash():
        click.echo(f"warning       {clash}")
    click.echo()
    for row in rows:
        usable = [device for device, why in row["devices"].items() if why is None]
        state = f"runs on {', '.join(usable)}" if row["runs"] else f"cannot run: {row['why_not']}"
        click.echo(f"{row['bug']}  {row['framework']:<10}  {state}")
        for device, why in row["devices"].items():
            if row["runs"] and why:
                click.echo(f"                   not {device}: {why}")
