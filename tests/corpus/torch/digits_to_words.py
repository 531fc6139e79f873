"""Character-level sequence to sequence: "4 0 7 2" style codes are spelled out as words.
Encoder-decoder from a small BART config, evaluated by exact match and character error rate."""
import random
from dataclasses import dataclass

import numpy as np
import torch
from transformers import (BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          set_seed)

WORDS = "zero one two three four five six seven eight nine".split()
CHARS = "0123456789 abcdefghijklmnopqrstuvwxyz"
PAD, EOS = 0, 1
STOI = {c: i + 2 for i, c in enumerate(CHARS)}
ITOS = {i: c for c, i in STOI.items()}


def to_ids(text):
    return [STOI[c] for c in text] + [EOS]


def to_text(ids):
    ids = [int(i) for i in ids if i != PAD]
    if ids and ids[0] == EOS:          # decoder start token
        ids = ids[1:]
    if EOS in ids:
        ids = ids[:ids.index(EOS)]
    return "".join(ITOS[i] for i in ids)


class SpellOut(torch.utils.data.Dataset):
    def __init__(self, codes):
        self.rows = [(c, " ".join(WORDS[int(d)] for d in c)) for c in codes]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        src, tgt = self.rows[i]
        return {"input_ids": to_ids(src), "labels": to_ids(tgt)}


@dataclass
class Collator:
    label_pad: int = -100

    def __call__(self, items):
        def pad(seqs, value):
            w = max(map(len, seqs))
            return torch.tensor([s + [value] * (w - len(s)) for s in seqs])

        ids = pad([it["input_ids"] for it in items], PAD)
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(),
                "labels": pad([it["labels"] for it in items], self.label_pad)}


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (ca != cb))
    return row[-1]


def compute_metrics(p):
    preds, labels = p.predictions, p.label_ids
    labels = np.where(labels == -100, PAD, labels)
    guess = [to_text(r) for r in np.where(preds < 0, PAD, preds)]
    gold = [to_text(r) for r in labels]
    exact = np.mean([g == t for g, t in zip(guess, gold)])
    cer = sum(edit_distance(g, t) for g, t in zip(guess, gold)) / sum(map(len, gold))
    print("   sample:", repr(gold[0]), "->", repr(guess[0]))
    return {"exact": float(exact), "cer": float(cer)}


def main():
    set_seed(2)
    codes = set()
    while len(codes) < 1700:
        codes.add("".join(random.choice("0123456789") for _ in range(random.randint(3, 7))))
    codes = sorted(codes)
    random.shuffle(codes)
    train, test = SpellOut(codes[:1600]), SpellOut(codes[1600:])

    config = BartConfig(vocab_size=len(CHARS) + 2, d_model=64, encoder_layers=2, decoder_layers=2,
                        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128,
                        decoder_ffn_dim=128, max_position_embeddings=64, dropout=0.0, init_std=0.1,
                        pad_token_id=PAD, bos_token_id=EOS, eos_token_id=EOS, decoder_start_token_id=EOS,
                        forced_eos_token_id=None)
    model = BartForConditionalGeneration(config)
    args = Seq2SeqTrainingArguments(
        output_dir="out",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=2e-3,
        warmup_steps=40,
        lr_scheduler_type="cosine",
        max_grad_norm=1.0,
        predict_with_generate=True,
        eval_strategy="no",
        save_strategy="no",
        logging_steps=50,
        report_to="none",
        disable_tqdm=True,
        seed=2,
    )
    trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                             data_collator=Collator(), compute_metrics=compute_metrics)
    trainer.train()
    res = trainer.evaluate()
    print(f"eval loss {res['eval_loss']:.4f}  exact match {res['eval_exact']:.3f}  CER {res['eval_cer']:.3f} "
          f"(empty output: CER 1.0)")


if __name__ == "__main__":
    main()
