"""Train a small Llama on forecast sentences from packed token blocks, with accelerate."""
from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from datasets import Dataset
from torch.utils.data import DataLoader
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, get_cosine_schedule_with_warmup, set_seed


@dataclass
class TrainConfig:
    sentences: int = 3500
    block: int = 48
    batch_size: int = 16
    accumulate: int = 2
    epochs: int = 8
    lr: float = 4e-3
    seed: int = 2


SKIES = {"rain": ("umbrella", "wet"), "snow": ("shovel", "white"), "sun": ("hat", "dry"), "fog": ("lamp", "grey"),
         "hail": ("helmet", "loud")}
TOWNS = ["bergen", "leeds", "nantes", "graz", "malmo", "split"]
DAYS = ["monday", "tuesday", "friday", "sunday"]


def forecast(rng: random.Random) -> str:
    sky, town, day = rng.choice(list(SKIES)), rng.choice(TOWNS), rng.choice(DAYS)
    tool, look = SKIES[sky]
    return f"on {day} {town} expects {sky} , so take a {tool} to {town} because {day} will be {look} ."


def build_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.BPE(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.decoder = decoders.Metaspace()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=220, special_tokens=["<unk>", "</s>"], show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", eos_token="</s>", pad_token="</s>")


def pack(texts: list[str], tokenizer: PreTrainedTokenizerFast, block: int) -> Dataset:
    """One long stream; the label of position i is the token at position i + 1."""
    stream: list[int] = []
    for ids in tokenizer(texts)["input_ids"]:
        stream += ids + [tokenizer.eos_token_id]
    rows = {"input_ids": [], "labels": []}
    for i in range(0, len(stream) - block - 1, block):
        rows["input_ids"].append(stream[i:i + block])
        rows["labels"].append(stream[i + 1:i + block + 1])
    return Dataset.from_dict(rows).with_format("torch")


def next_token_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


@torch.no_grad()
def evaluate(model: LlamaForCausalLM, loader: DataLoader) -> tuple[float, float]:
    model.eval()
    loss = hits = count = 0.0
    for batch in loader:
        logits = model(input_ids=batch["input_ids"]).logits
        loss += next_token_loss(logits, batch["labels"]).item() * batch["labels"].numel()
        hits += (logits.argmax(-1) == batch["labels"]).sum().item()
        count += batch["labels"].numel()
    return loss / count, hits / count


def main() -> None:
    cfg = TrainConfig()
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    texts = [forecast(rng) for _ in range(cfg.sentences)]
    tokenizer = build_tokenizer(texts)
    cut = int(0.9 * len(texts))
    train = DataLoader(pack(texts[:cut], tokenizer, cfg.block), batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(pack(texts[cut:], tokenizer, cfg.block), batch_size=64)

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=cfg.accumulate)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=160, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True, use_cache=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.95), weight_decay=0.1)
    steps = cfg.epochs * math.ceil(len(train) / cfg.accumulate)
    scheduler = get_cosine_schedule_with_warmup(optimizer, steps // 20, steps)
    model, optimizer, train, valid, scheduler = accelerator.prepare(model, optimizer, train, valid, scheduler)

    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for batch in train:
            with accelerator.accumulate(model):
                loss = next_token_loss(model(input_ids=batch["input_ids"]).logits, batch["labels"])
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item()
        val_loss, val_acc = evaluate(model, valid)
        accelerator.print(f"epoch {epoch + 1}: train {total / len(train):.3f} valid {val_loss:.3f} accuracy {val_acc:.3f}")

    prompt = tokenizer("on friday graz expects snow ,", return_tensors="pt", return_token_type_ids=False)
    out = accelerator.unwrap_model(model).generate(**prompt, max_new_tokens=25, do_sample=False, use_cache=True)
    accelerator.print(tokenizer.decode(out[0]))


if __name__ == "__main__":
    main()
