"""`diagnose` on scripts whose training runs in processes of their own, or that a launcher would start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import call

pytestmark = pytest.mark.long

PARTS = """
import argparse, os, subprocess, sys
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

def rows():
    x = torch.randn(640, 8, generator=torch.Generator().manual_seed(0))
    return TensorDataset(x, (x[:, 0] + x[:, 1] > 0).long())

def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)ENDING)

def train(model, sampler=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(6):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for x, y in DataLoader(rows(), batch_size=16, sampler=sampler, shuffle=sampler is None):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    with torch.no_grad():
        x, y = rows().tensors
        print("accuracy", (model(x).argmax(1) == y).float().mean().item(), flush=True)
"""
SPAWN = PARTS + """
def rank(number, world, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=number, world_size=world)
    train(DistributedDataParallel(net()), DistributedSampler(rows()))
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.spawn(rank, args=(2, port), nprocs=2)
"""
PROCESSES = PARTS + """
def work(number, model):
    train(model)

if __name__ == "__main__":
    context = mp.get_context("METHOD")
    model = net()
    model.share_memory()
    processes = [context.Process(target=work, args=(number, model)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
"""
ITSELF = PARTS + """
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", default="all")
    if parser.parse_args().stage == "train":
        train(net())
        sys.exit(3)
    done = subprocess.run([sys.executable, "-u", os.path.abspath(__file__), "--stage", "train"])
    print("status", done.returncode)
"""
LAUNCHED = PARTS + """
local_rank = ASKED
dist.init_process_group("gloo")
train(DistributedDataParallel(net()), DistributedSampler(rows()))
dist.destroy_process_group()
"""
SOFTMAX = ", nn.Softmax(1)"


def _judged(text: str, folder: Path, capfd: pytest.CaptureFixture[str], *, ending: str = "") -> dict[str, Any]:
    path = folder / "train.py"
    path.write_text(text.replace("ENDING", ending))
    assert call("diagnose", "--json", "--timeout", "120", str(path)) == (1 if ending else 0)
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize("text", [
    SPAWN, PROCESSES.replace("METHOD", "spawn"), PROCESSES.replace("METHOD", "fork"), ITSELF,
    LAUNCHED.replace("ASKED", 'int(os.environ["LOCAL_RANK"])'), LAUNCHED.replace("ASKED", 'int(os.environ.get("LOCAL_RANK"))'),
    LAUNCHED.replace("ASKED", "0")], ids=["ranks", "spawned", "forked", "itself", "launched", "launched, none", "launched, asked by torch"])
def test_what_trains_in_another_process(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    broken = _judged(text, tmp_path, capfd, ending=SOFTMAX)
    assert broken["first"]["code"] == "L205"
    assert broken["first"]["finding"]["site"]["file"] == str(tmp_path / "train.py")


@pytest.mark.parametrize("text", [SPAWN, ITSELF], ids=["ranks", "itself"])
def test_what_trains_well_in_another_process(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    healthy = _judged(text, tmp_path, capfd)
    assert healthy["verdict"] == "clean", healthy
    assert len(healthy["losses"]) >= 24


def test_the_status_of_a_child_is_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(ITSELF.replace("ENDING", "").replace("range(6)", "range(1)"))
    call("diagnose", "--verbose", str(path))
    printed = capfd.readouterr()
    assert "status 3" in printed.out + printed.err


def test_an_error_of_the_first_rank(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(SPAWN.replace("ENDING", "").replace("nn.Linear(8, 16)", "nn.Linear(9, 16)"))
    assert call("diagnose", "--json", "--timeout", "120", str(path)) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["first"]["finding"]["site"]["source"].startswith("return nn.Sequential(nn.Linear(9, 16)")


def test_an_error_of_a_script_that_is_started(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prepare.py").write_text("import json\nsettings = json.loads('{\"rows\": 3}')\nprint(settings['columns'])\n")
    path = tmp_path / "train.py"
    path.write_text("import os, subprocess, sys\nhere = os.path.dirname(os.path.abspath(__file__))\n"
                    "subprocess.run([sys.executable, 'prepare.py'], cwd=here, check=True)\n")
    assert call("diagnose", "--json", "--timeout", "120", str(path)) == 1
    site = json.loads(capfd.readouterr().out)["first"]["finding"]["site"]
    assert (site["file"], site["line"]) == (str(tmp_path / "prepare.py"), 3)


def test_other_commands_are_left_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prepare.py").write_text("import sys\nprint('prepared', sys.argv[1:], __name__)\nsys.exit(5)\n")
    path = tmp_path / "train.py"
    path.write_text("import os, subprocess, sys\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
                    "made = [subprocess.run(command, capture_output=True, text=True, **more) for command, more in [\n"
                    "    ([sys.executable, '-X', 'utf8', 'prepare.py', '-n', '3'], {}), ([sys.executable, '-c', 'print(7)'], {}),\n"
                    "    ([sys.executable, '-m', 'platform'], {}), ('echo shell', {'shell': True}), (['echo', 'x.py'], {})]]\n"
                    "print([(one.returncode, one.stdout.strip()[:40]) for one in made])\n")
    assert call("diagnose", "--verbose", "--timeout", "120", str(path)) == 2
    printed = "".join(capfd.readouterr())
    assert """[(5, "prepared ['-n', '3'] __main__"), (0, '7'), (0, 'Linux""" in printed
    assert "(0, 'shell'), (0, 'x.py')]" in printed
