"""A character model of a server's log lines: small Llama, own vocabulary, Hugging Face Trainer."""
import argparse
import random
import re

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

LEVELS = ["info", "warn", "error"]
PATHS = ["/login", "/cart", "/items", "/search"]
LINE = re.compile(r"^level=(info|warn|error) path=/(login|cart|items|search) code=(200|404|500)$")


def log_text(lines, rng):
    out = []
    for _ in range(lines):
        level = rng.choice(LEVELS)
        code = {"info": 200, "warn": 404, "error": 500}[level]
        out.append(f"level={level} path={rng.choice(PATHS)} code={code}")
    return "\n".join(out) + "\n"


class Vocabulary:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, text):
        return [self.index[c] for c in text]

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)


class Blocks(Dataset):
    def __init__(self, ids, block):
        self.ids = torch.tensor(ids)
        self.block = block

    def __len__(self):
        return (len(self.ids) - 1) // self.block

    def __getitem__(self, i):
        chunk = self.ids[i * self.block:(i + 1) * self.block + 1]
        return {
            "input_ids": chunk[:-1],
            "labels": chunk[1:],
        }


def sample(model, vocab, count=8, length=100):
    prompt = torch.tensor([vocab.encode("\nlevel=")])
    model.eval()
    out = model.generate(prompt, max_new_tokens=length, do_sample=True, num_return_sequences=count, pad_token_id=0)
    return [vocab.decode(row) for row in out.tolist()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=1500)
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    set_seed(8)
    rng = random.Random(8)

    text = log_text(args.lines, rng)
    vocab = Vocabulary(text)
    ids = vocab.encode(text)
    cut = int(0.9 * len(ids))
    train, valid = Blocks(ids[:cut], args.block), Blocks(ids[cut:], args.block)

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(vocab), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, bos_token_id=None, eos_token_id=None, pad_token_id=None))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir="out/logfmt", num_train_epochs=args.epochs, learning_rate=args.lr, weight_decay=0.01,
            per_device_train_batch_size=16, lr_scheduler_type="cosine", warmup_ratio=0.05, logging_steps=50,
            eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, seed=8),
        train_dataset=train, eval_dataset=valid)
    trainer.train()

    written = sample(model, vocab)
    lines = [line for text in written for line in (text.strip().split("\n")[:-1] or [text])]
    print("\n".join(lines[:6]))
    print("well-formed lines:", sum(bool(LINE.match(line)) for line in lines), "of", len(lines))


if __name__ == "__main__":
    main()
