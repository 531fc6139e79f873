"""Distil the embedded DistilBERT into one of half the depth: ``python assets/distil.py`` rewrites ``assets/distilbert-micro``.

As DistilBERT was made from BERT: every second block of the teacher is where the student starts, and the student learns to have, after
each of its blocks, the hidden states that the teacher has after two. The pairs of texts come from the generator that pretrained the
teacher (`pretrain.Passages`), never from the fine-tuning splits, and no answer to them is shown. The tokenizer, the word head and the
body of the classification head are the teacher's.
Same seed and same library versions: the same behaviour; the bytes depend on the machine.
"""

import argparse
import math
import os
import shutil
import time
from pathlib import Path

import torch
from pretrain import FOLDER as TEACHER
from pretrain import REACH, SEED, Averages, Passages, Pretraining, batches, save, with_reach
from safetensors.torch import load_file
from transformers import AutoTokenizer, DistilBertConfig

FOLDER = TEACHER.with_name("distilbert-micro")
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.txt")
LEARNING_RATE = 1e-3
# What the classification head reads is one token of fifty: without more weight it is learnt last.
FIRST_TOKEN = 5.0


def half(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights of every second block (the second, the fourth, ...) under the names of a model that has only these, and all others."""
    kept = {}
    for name, tensor in weights.items():
        head, found, tail = name.partition("transformer.layer.")
        number, _, rest = tail.partition(".")
        if not found:
            kept[name] = tensor
        elif int(number) % 2:
            kept[f"{head}{found}{int(number) // 2}.{rest}"] = tensor
    return kept


def distance(student: torch.Tensor, teacher: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean squared difference of hidden states (float32[batch, tokens, dim]) over tokens that are no padding, the first one apart."""
    squared = (student - teacher).square().mean(-1)
    return (squared * mask).sum() / mask.sum() + FIRST_TOKEN * squared[:, 0].mean()


def main() -> None:
    """Make the student, teach it, and save it beside the teacher's tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--teacher", type=Path, default=TEACHER)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--report", type=int, default=200)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.teacher)
    config = DistilBertConfig.from_pretrained(args.teacher)
    sizes = argparse.Namespace(**vars(args), heads=config.n_heads, dim=config.dim, hidden_dim=config.hidden_dim)
    teacher = Pretraining(argparse.Namespace(**vars(sizes), layers=config.n_layers), tokenizer)
    student = Pretraining(argparse.Namespace(**vars(sizes), layers=config.n_layers // 2), tokenizer)
    weights = with_reach(load_file(args.teacher / "model.safetensors"), 1 / REACH)
    teacher.take(weights)
    student.take(half(weights))
    teacher.model.eval()
    encoder = student.model.distilbert
    print(f"{sum(p.numel() for p in student.model.parameters()):,} parameters", flush=True)

    optimizer = torch.optim.AdamW(encoder.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    warm_up = max(1, min(200, args.steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm_up, max(0.02, 0.5 + 0.5 * math.cos(math.pi * step / args.steps))))
    source = batches(Passages(args.seed + 3), tokenizer, args.batch_size, torch.Generator().manual_seed(args.seed), asks_orders=True)
    seen, start = Averages(), time.perf_counter()
    encoder.train()
    for step in range(1, args.steps + 1):
        ids, mask = (tensor.to(args.device) for tensor in next(source)[:2])
        with torch.no_grad():
            told = teacher.model.distilbert(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[2::2]
        states = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[1:]
        parts = [distance(mine, theirs, mask) for mine, theirs in zip(states, told, strict=True)]
        loss = sum(parts)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        for number, part in enumerate(parts, start=1):
            seen.add(f"block {number}", part)
        if step % args.report == 0 or step == args.steps:
            print(f"step {step}/{args.steps} {seen} {time.perf_counter() - start:.0f} s", flush=True)
            seen = Averages()
        if step % 500 == 0 or step == args.steps:
            save(student.model, student.pre_classifier, args.output)
    for name in TOKENIZER:
        shutil.copy(args.teacher / name, args.output / name)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
