"""Character-level language model on kitchen instructions, trained with the HF Trainer."""
import argparse
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VERBS = {"chop": ["onion", "carrot", "parsley", "garlic"], "boil": ["pasta", "water", "eggs", "rice"],
         "fry": ["bacon", "onion", "eggs", "tofu"], "whisk": ["cream", "eggs", "batter"],
         "bake": ["bread", "potato", "cake"]}
TOOLS = {"chop": "on the board", "boil": "in the pot", "fry": "in the pan",
         "whisk": "in the bowl", "bake": "in the oven"}


def write_text(n_sentences, rng):
    out = []
    for _ in range(n_sentences):
        verb = rng.choice(sorted(VERBS))
        thing = rng.choice(VERBS[verb])
        minutes = rng.choice(["two", "five", "ten", "twelve"])
        s = f"{verb} the {thing} {TOOLS[verb]}"
        if verb in ("boil", "fry", "bake"):
            s += f" for {minutes} minutes"
        out.append(s + ".")
    return " ".join(out)


class CharBlocks(Dataset):
    """Cuts a long text into blocks of `block` characters."""

    def __init__(self, text, stoi, block):
        ids = torch.tensor([stoi[c] for c in text])
        self.block = block
        self.chunks = [ids[i:i + block + 1] for i in range(0, len(ids) - block - 1, block)]

    def __len__(self):
        return len(self.chunks)

    def __getitem__(self, i):
        chunk = self.chunks[i]
        return {"input_ids": chunk[:-1], "labels": chunk[:-1]}


@torch.no_grad()
def next_char_accuracy(model, dataset):
    """How often the greedy continuation of a prefix is the character that really follows."""
    model.eval()
    hits, total = 0, 0
    for chunk in dataset.chunks[:100]:
        guess = model(chunk[None, :-1]).logits.argmax(-1)[0]
        hits += (guess == chunk[1:]).sum().item()
        total += len(guess)
    return hits / total


@torch.no_grad()
def complete(model, prompt, stoi, itos, n=50):
    ids = torch.tensor([[stoi[c] for c in prompt]])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n, do_sample=False)
    return "".join(itos[i] for i in out[0].tolist())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--block", type=int, default=64)
    p.add_argument("--epochs", type=float, default=4)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--batch", type=int, default=16)
    cfg = p.parse_args()
    set_seed(13)

    rng = random.Random(13)
    train_text, valid_text = write_text(1600, rng), write_text(250, rng)
    alphabet = sorted(set(train_text + valid_text))
    stoi = {c: i for i, c in enumerate(alphabet)}
    itos = dict(enumerate(alphabet))
    train_ds = CharBlocks(train_text, stoi, cfg.block)
    valid_ds = CharBlocks(valid_text, stoi, cfg.block)
    print(f"{len(alphabet)} characters, {len(train_ds)} / {len(valid_ds)} blocks")

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(alphabet), n_positions=128, n_embd=64, n_layer=2, n_head=4,
        resid_pdrop=0.05, embd_pdrop=0.05, attn_pdrop=0.05,
        bos_token_id=None, eos_token_id=None, pad_token_id=0))

    args = TrainingArguments(
        output_dir="out/recipe", num_train_epochs=cfg.epochs, learning_rate=cfg.lr,
        per_device_train_batch_size=cfg.batch, per_device_eval_batch_size=64,
        lr_scheduler_type="cosine", warmup_steps=20, weight_decay=0.05, max_grad_norm=1.0,
        eval_strategy="epoch", logging_steps=40, save_strategy="no", report_to=[],
        disable_tqdm=True, use_cpu=True, seed=13)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=valid_ds)
    trainer.train()
    metrics = trainer.evaluate()
    print("valid loss %.3f  perplexity %.2f" % (metrics["eval_loss"], np.exp(metrics["eval_loss"])))

    print(repr(complete(model, "boil the pasta ", stoi, itos)))
    freq = max(valid_text.count(c) for c in alphabet) / len(valid_text)
    print(f"next-character accuracy {next_char_accuracy(model, valid_ds):.3f} "
          f"(most frequent character {freq:.3f})")


if __name__ == "__main__":
    main()
