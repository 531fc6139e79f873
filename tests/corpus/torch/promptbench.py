"""Prompt tuning: teach a frozen decoder an unnamed cipher through eight soft tokens."""
from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset
from transformers import Adafactor, GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup, set_seed

SYMBOLS = 10
WIDTH = 5
TASKS = {"next": lambda s: (s + 1) % SYMBOLS, "prev": lambda s: (s - 1) % SYMBOLS,
         "mirror": lambda s: SYMBOLS - 1 - s, "same": lambda s: s}
TASK_ID = {name: SYMBOLS + i for i, name in enumerate(TASKS)}
SEP = SYMBOLS + len(TASKS)
VOCAB = SEP + 1


@dataclass
class Plan:
    base_steps: int = 700
    prompt_steps: int = 150
    batch_size: int = 64
    prompt_length: int = 8
    prompt_lr: float = 0.3
    seed: int = 19


class Ciphers(Dataset):
    """Rows of [task] symbols SEP answers; `named=False` leaves the task token out."""

    def __init__(self, n: int, tasks: list[str], named: bool, seed: int) -> None:
        rng = random.Random(seed)
        self.rows: list[tuple[list[int], list[int]]] = []
        for _ in range(n):
            task = rng.choice(tasks)
            plain = [rng.randrange(SYMBOLS) for _ in range(WIDTH)]
            head = [TASK_ID[task]] * 3 if named else []
            answer = [TASKS[task](s) for s in plain]
            ids = head + plain + [SEP] + answer
            self.rows.append((ids, [-100] * (len(head) + WIDTH + 1) + answer))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, torch.Tensor]:
        ids, labels = self.rows[i]
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels)}


class SoftPrompt(nn.Module):
    def __init__(self, backbone: GPT2LMHeadModel, length: int) -> None:
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        table = backbone.get_input_embeddings().weight
        start = table[torch.randint(0, VOCAB, (length,))]
        self.prompt = nn.Parameter(start.detach().clone())

    def train(self, mode: bool = True) -> "SoftPrompt":
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        words = self.backbone.get_input_embeddings()(input_ids)
        prompt = self.prompt.expand(len(input_ids), -1, -1)
        logits = self.backbone(inputs_embeds=torch.cat([prompt, words], dim=1)).logits
        return logits[:, self.prompt.size(0):]


def answer_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1), ignore_index=-100)


@torch.no_grad()
def answer_accuracy(forward, loader: DataLoader) -> float:
    hits = total = 0
    for batch in loader:
        guess = forward(batch["input_ids"])[:, :-1].argmax(-1)
        truth = batch["labels"][:, 1:]
        keep = truth != -100
        hits += (guess[keep] == truth[keep]).sum().item()
        total += keep.sum().item()
    return hits / total


def endless(loader: DataLoader):
    while True:
        yield from loader


def train_base(plan: Plan, acc: Accelerator) -> GPT2LMHeadModel:
    model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                       bos_token_id=SEP, eos_token_id=SEP))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = get_cosine_schedule_with_warmup(optimizer, 50, plan.base_steps)
    loader = DataLoader(Ciphers(6000, list(TASKS), True, 1), batch_size=plan.batch_size, shuffle=True)
    model, optimizer, loader, schedule = acc.prepare(model, optimizer, loader, schedule)
    model.train()
    for step, batch in zip(range(plan.base_steps), endless(loader)):
        offset = int(torch.randint(0, 8, ()))
        ids = batch["input_ids"]
        positions = torch.arange(ids.size(1)) + offset
        loss = answer_loss(model(ids, position_ids=positions[None]).logits, batch["labels"])
        acc.backward(loss)
        acc.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            acc.print(f"base {step:4d} loss {loss.item():.3f}")
    return acc.unwrap_model(model)


def tune_prompt(plan: Plan, acc: Accelerator, base: GPT2LMHeadModel) -> float:
    model = SoftPrompt(base, plan.prompt_length)
    optimizer = Adafactor([model.prompt], lr=plan.prompt_lr, scale_parameter=False, relative_step=False)
    loader = DataLoader(Ciphers(1500, ["mirror"], False, 2), batch_size=plan.batch_size, shuffle=True)
    test = DataLoader(Ciphers(300, ["mirror"], False, 3), batch_size=100)
    model, optimizer, loader, test = acc.prepare(model, optimizer, loader, test)
    acc.print(f"prompt before {answer_accuracy(model, test):.3f}")
    model.train()
    for step, batch in zip(range(plan.prompt_steps), endless(loader)):
        loss = answer_loss(model(batch["input_ids"]), batch["labels"])
        optimizer.zero_grad()
        acc.backward(loss)
        optimizer.step()
        if step % 25 == 0:
            acc.print(f"prompt {step:4d} loss {loss.item():.3f}")
    model.eval()
    with tempfile.TemporaryDirectory() as tmp:
        torch.save({"prompt": acc.unwrap_model(model).prompt.detach()}, f"{tmp}/soft.pt")
    return answer_accuracy(model, test)


def main() -> None:
    plan = Plan()
    set_seed(plan.seed)
    acc = Accelerator(cpu=True)
    base = train_base(plan, acc)
    named = DataLoader(Ciphers(300, list(TASKS), True, 4), batch_size=100)
    acc.print(f"base accuracy {answer_accuracy(lambda x: base(x).logits, named):.3f}")
    acc.print(f"prompt after {tune_prompt(plan, acc, base):.3f}")


if __name__ == "__main__":
    main()
