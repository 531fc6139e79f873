"""Small GPT-2 on symbolic melodies (24 pitches), trained with the HF Trainer."""
import argparse

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--n_train", type=int, default=800)
    p.add_argument("--n_test", type=int, default=200)
    p.add_argument("--length", type=int, default=33)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


N_PITCH = 24


def compose(n, length, rng, table):
    """Every phrase follows a fixed grammar, with a few grace notes thrown in."""
    out = np.zeros((n, length), dtype=np.int64)
    out[:, 0] = rng.integers(0, N_PITCH, n)
    for t in range(1, length):
        nxt = table[out[:, t - 1]]
        grace = rng.random(n) < 0.2
        out[:, t] = np.where(grace, rng.integers(0, N_PITCH, n), nxt)
    return out


class MelodyDataset(Dataset):
    def __init__(self, seqs):
        self.seqs = torch.from_numpy(seqs)

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        notes = self.seqs[i]
        return {
            "input_ids": notes[:-1],
            "labels": notes[:-1],
        }


@torch.no_grad()
def next_note_accuracy(model, seqs):
    model.eval()
    ids = torch.from_numpy(seqs).to(model.device)
    pred = model(input_ids=ids).logits[:, :-1].argmax(-1)
    return (pred == ids[:, 1:]).float().mean().item()


def main():
    args = parse()
    set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    table = rng.permutation(N_PITCH)
    train = compose(args.n_train, args.length, rng, table)
    test = compose(args.n_test, args.length, rng, table)

    config = GPT2Config(
        vocab_size=N_PITCH, n_positions=64, n_embd=48, n_layer=2, n_head=4,
        bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    targs = TrainingArguments(
        output_dir="out", num_train_epochs=args.epochs, learning_rate=args.lr,
        per_device_train_batch_size=32, per_device_eval_batch_size=100,
        warmup_ratio=0.05, lr_scheduler_type="cosine", logging_steps=50,
        eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True,
        disable_tqdm=True, seed=args.seed,
    )
    trainer = Trainer(
        model=model, args=targs,
        train_dataset=MelodyDataset(train), eval_dataset=MelodyDataset(test),
    )
    trainer.train()

    acc = next_note_accuracy(model, test)
    chance = np.bincount(test[:, 1:].ravel(), minlength=N_PITCH).max() / test[:, 1:].size
    print(f"next-note accuracy {acc:.3f}  (most common note {chance:.3f})")
    start = torch.tensor([[3, int(table[3])]])
    tune = model.generate(start, max_new_tokens=16, do_sample=False, pad_token_id=0,
                          attention_mask=torch.ones_like(start))
    print("sample:", tune[0].tolist())


if __name__ == "__main__":
    main()
