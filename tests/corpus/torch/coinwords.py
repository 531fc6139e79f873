"""Decoder-only model that pays sums with coins: prompt masked out of the loss, embeddings tied, exact-match metric."""
import os
import random

os.environ["USE_TF"] = "0"

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainerCallback
from transformers import TrainingArguments, set_seed

COINS = [25, 10, 5, 1]
IGNORE = -100


def change(amount):
    out = []
    for coin in COINS:
        out += [f"c{coin}"] * (amount // coin)
        amount %= coin
    return out


def tokenizer_of():
    words = ["<pad>", "<eos>", "<unk>", "pay", "->"] + [f"n{i}" for i in range(10)] + [f"c{c}" for c in COINS]
    tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def build(amounts, tok):
    rows = {"input_ids": [], "labels": []}
    for a in amounts:
        prompt = tok.encode("pay " + " ".join(f"n{d}" for d in f"{a:02d}") + " ->", add_special_tokens=False)
        answer = tok.encode(" ".join(change(a)) + " <eos>", add_special_tokens=False)
        rows["input_ids"].append(prompt + answer)
        rows["labels"].append([IGNORE] * len(prompt) + answer)
    return Dataset.from_dict(rows)


class Collator:
    def __init__(self, pad):
        self.pad = pad

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        fill = lambda seq, v: seq + [v] * (width - len(seq))
        return {
            "input_ids": torch.tensor([fill(r["input_ids"], self.pad) for r in rows]),
            "attention_mask": torch.tensor([fill([1] * len(r["input_ids"]), 0) for r in rows]),
            "labels": torch.tensor([fill(r["labels"], IGNORE) for r in rows]),
        }


def compute_metrics(pred):
    guess, gold = pred.predictions[:, :-1], pred.label_ids[:, 1:]
    asked = gold != IGNORE
    same = (guess == gold) | ~asked
    return {"token_accuracy": float((guess == gold)[asked].mean()), "exact_match": float(same.all(1).mean())}


class Ema(TrainerCallback):
    """A slow copy of the weights, reported beside the fast one."""

    def __init__(self, decay=0.95):
        self.decay, self.slow = decay, None

    @torch.no_grad()
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if self.slow is None:
            self.slow = {k: v.detach().clone() for k, v in model.state_dict().items()}
        for k, v in model.state_dict().items():
            self.slow[k].lerp_(v, 1 - self.decay)


def main():
    set_seed(2)
    rng = random.Random(2)
    amounts = list(range(1, 100))
    rng.shuffle(amounts)
    tok = tokenizer_of()
    train, test = build(amounts[:84] * 20, tok), build(amounts[84:], tok)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tok), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=32, tie_word_embeddings=True, pad_token_id=tok.pad_token_id,
        bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id,
    ))
    ema = Ema()
    args = TrainingArguments(
        output_dir="/tmp/coinwords", num_train_epochs=6, per_device_train_batch_size=14,
        gradient_accumulation_steps=3, learning_rate=3e-3, lr_scheduler_type="cosine", warmup_ratio=0.1,
        max_grad_norm=0.5, logging_steps=20, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=train, eval_dataset=test, data_collator=Collator(tok.pad_token_id),
        compute_metrics=compute_metrics, callbacks=[ema],
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    trainer.train()
    for name in ("fast", "slow"):
        if name == "slow":
            model.load_state_dict(ema.slow)
        m = trainer.evaluate()
        print(f"{name}: loss {m['eval_loss']:.3f} token {m['eval_token_accuracy']:.3f} exact {m['eval_exact_match']:.3f}")


if __name__ == "__main__":
    main()
