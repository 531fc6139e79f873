"""Cheque amounts in words: a small BART writes '407' as 'four hundred seven'."""
import logging
import random
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          set_seed)

logging.basicConfig(level=logging.INFO)
log = logging.getLogger("cheques")
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " \
       "seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
PAD, BOS, EOS = 0, 1, 2


def in_words(n):
    words = []
    if n >= 100:
        words += [ONES[n // 100], "hundred"]
        n %= 100
        if n == 0:
            return words
    if n >= 20:
        words.append(TENS[n // 10 - 2])
        n %= 10
        return words + ([ONES[n]] if n else [])
    return words + [ONES[n]]


@dataclass
class Words:
    itos: list = field(default_factory=lambda: ["<pad>", "<s>", "</s>"] + list("0123456789") + ONES + TENS + ["hundred"])

    def __post_init__(self):
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def ids(self, words):
        return [self.stoi[w] for w in words]

    def text(self, ids):
        return " ".join(self.itos[i] for i in ids if i > EOS)


class Cheques(Dataset):
    def __init__(self, numbers, words):
        self.numbers, self.words = numbers, words

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, i):
        n = self.numbers[i]
        return {"source": self.words.ids(str(n)) + [EOS], "target": self.words.ids(in_words(n))}


def padded(rows, value):
    width = max(map(len, rows))
    return torch.tensor([r + [value] * (width - len(r)) for r in rows])


def collate(batch):
    source = padded([b["source"] for b in batch], PAD)
    return {
        "input_ids": source,
        "attention_mask": (source != PAD).long(),
        "decoder_input_ids": padded([[BOS] + b["target"] for b in batch], PAD),
        "labels": padded([b["target"] + [EOS] for b in batch], -100),
    }


def build_model(words):
    return BartForConditionalGeneration(BartConfig(
        vocab_size=len(words.itos), d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=16, dropout=0.0,
        init_std=0.1, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS, decoder_start_token_id=BOS,
        forced_eos_token_id=None))


class ChequeTrainer(Seq2SeqTrainer):
    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None, **kwargs):
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        with torch.no_grad():
            loss = model(**inputs).loss
            written = model.generate(ids, attention_mask=mask, max_length=8, do_sample=False)
        return loss, written, inputs["labels"]


def main():
    set_seed(19)
    words = Words()
    numbers = list(range(1000))
    random.Random(19).shuffle(numbers)
    train, test = Cheques(numbers[:850] * 4, words), Cheques(numbers[850:], words)

    def compute_metrics(p):
        right = []
        for guess, truth in zip(p.predictions.tolist(), p.label_ids.tolist()):
            guess = guess[1:]
            guess = guess[:guess.index(EOS)] if EOS in guess else guess
            right.append(words.text(guess) == words.text(truth))
        return {"exact": float(np.mean(right))}

    args = Seq2SeqTrainingArguments(
        output_dir="out/spelling_out", num_train_epochs=8, learning_rate=2e-3, per_device_train_batch_size=32,
        per_device_eval_batch_size=150, warmup_steps=40, lr_scheduler_type="cosine", logging_steps=100,
        remove_unused_columns=False, save_strategy="no", report_to="none", disable_tqdm=True)
    trainer = ChequeTrainer(model=build_model(words), args=args, train_dataset=train, eval_dataset=test,
                            data_collator=collate, compute_metrics=compute_metrics)
    trainer.train()
    log.info("unseen amounts: %s", trainer.evaluate())


if __name__ == "__main__":
    main()
