"""Train a small GPT-2 on cocktail instructions and report next-token accuracy."""
from __future__ import annotations

import argparse
import random

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

DRINKS = {
    "daiquiri": ("rum", "lime", "coupe", "shake"),
    "gimlet": ("gin", "lime cordial", "coupe", "shake"),
    "negroni": ("gin", "campari", "tumbler", "stir"),
    "manhattan": ("rye", "vermouth", "martini glass", "stir"),
    "paloma": ("tequila", "grapefruit soda", "highball", "build"),
    "mojito": ("rum", "mint", "highball", "build"),
    "sidecar": ("cognac", "triple sec", "coupe", "shake"),
}
GARNISH = {"coupe": "a lime wheel", "tumbler": "an orange peel", "martini glass": "a cherry", "highball": "a straw"}


def recipe(rng: random.Random) -> str:
    name = rng.choice(sorted(DRINKS))
    spirit, mixer, glass, how = DRINKS[name]
    amount = rng.choice(["30 ml", "45 ml", "60 ml"])
    opening = rng.choice(["for a", "to make a", "when asked for a"])
    ice = {"shake": "shake hard with ice", "stir": "stir slowly over ice", "build": "build over crushed ice"}[how]
    return f"{opening} {name} , pour {amount} of {spirit} , add {mixer} , {ice} , serve in a {glass} with {GARNISH[glass]} ."


def build_tokenizer(texts: list[str], vocab_size: int = 300) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.BPE(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.decoder = decoders.Metaspace()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=["<pad>", "<unk>", "<eos>"],
                                                       show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")


class LMCollator:
    def __init__(self, tokenizer: PreTrainedTokenizerFast, width: int) -> None:
        self.tokenizer, self.width = tokenizer, width

    def __call__(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        batch = self.tokenizer.pad(rows, padding="max_length", max_length=self.width, return_tensors="pt")
        batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        return dict(batch)


def preprocess_logits_for_metrics(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if isinstance(logits, tuple):
        logits = logits[0]
    return logits.argmax(dim=-1)


def compute_metrics(eval_pred) -> dict[str, float]:
    preds, labels = eval_pred
    mask = labels != -100
    hits = (preds == labels) & mask
    per_row = hits.sum(1) / np.maximum(mask.sum(1), 1)
    return {"token_accuracy": float(hits.sum() / mask.sum()), "worst_row": float(per_row.min())}


class SampleCallback(TrainerCallback):
    def __init__(self, tokenizer: PreTrainedTokenizerFast, prompt: str) -> None:
        self.tokenizer, self.prompt = tokenizer, prompt

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        enc = self.tokenizer(self.prompt, return_tensors="pt", return_token_type_ids=False)
        model.eval()
        out = model.generate(**enc, max_new_tokens=30, do_sample=False, pad_token_id=self.tokenizer.pad_token_id)
        print(f"[{state.epoch:.0f}]", self.tokenizer.decode(out[0], skip_special_tokens=True))


def parse_args() -> argparse.Namespace:
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--rows", type=int, default=1200)
    p.add_argument("--seed", type=int, default=21)
    return p.parse_args()


def main() -> None:
    cfg = parse_args()
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    texts = [recipe(rng) for _ in range(cfg.rows)]
    tokenizer = build_tokenizer(texts)
    ds = Dataset.from_dict({"text": texts}).map(
        lambda b: tokenizer([t + "<eos>" for t in b["text"]], return_token_type_ids=False),
        batched=True, remove_columns=["text"])
    width = max(len(r) for r in ds["input_ids"])
    ds = ds.train_test_split(test_size=200, seed=cfg.seed)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(tokenizer), n_positions=width + 40, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
    ))
    args = TrainingArguments(
        output_dir="out", num_train_epochs=cfg.epochs, learning_rate=cfg.lr,
        per_device_train_batch_size=20, per_device_eval_batch_size=100, lr_scheduler_type="cosine", warmup_ratio=0.05,
        eval_strategy="epoch", save_strategy="no", logging_steps=50, report_to="none", disable_tqdm=True, seed=cfg.seed,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
        data_collator=LMCollator(tokenizer, width), compute_metrics=compute_metrics,
        preprocess_logits_for_metrics=preprocess_logits_for_metrics,
        callbacks=[SampleCallback(tokenizer, "for a negroni ,")],
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
