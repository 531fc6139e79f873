"""Seq2seq: '14 mar 1987' -> '1987-03-14', characters, with a tiny T5."""
import random

import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments, set_seed

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CHARS = sorted(set("".join(MONTHS) + "0123456789- "))
PAD, EOS = 0, 1
STOI = {c: i + 2 for i, c in enumerate(CHARS)}
ITOS = {i: c for c, i in STOI.items()}


def encode(s):
    return [STOI[c] for c in s] + [EOS]


def decode(ids):
    return "".join(ITOS.get(int(i), "") for i in ids if int(i) not in (PAD, EOS))


def random_date():
    d, m, y = random.randint(1, 28), random.randint(1, 12), random.randint(1950, 2019)
    return f"{d} {MONTHS[m - 1]} {y}", f"{y}-{m:02d}-{d:02d}"


class Dates(Dataset):
    def __init__(self, n):
        self.pairs = [random_date() for _ in range(n)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        src, tgt = self.pairs[i]
        return {"src": encode(src), "tgt": encode(tgt)}


def pad_rows(rows):
    width = max(map(len, rows))
    return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])


def collate(batch):
    src = pad_rows([b["src"] for b in batch])
    tgt = pad_rows([b["tgt"] for b in batch])
    decoder_in = tgt.clone()
    return {
        "input_ids": src,
        "attention_mask": (src != PAD).long(),
        "decoder_input_ids": decoder_in,
        "labels": tgt.masked_fill(tgt == PAD, -100),
    }


@torch.no_grad()
def exact_match(model, dataset):
    model.eval()
    batch = collate([dataset[i] for i in range(len(dataset))])
    out = model.generate(batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=14, do_sample=False)
    guesses = [decode(o) for o in out]
    for g, (s, t) in list(zip(guesses, dataset.pairs))[:4]:
        print(f"{s!r:>16} -> {g!r} (want {t!r})")
    return sum(g == t for g, (_, t) in zip(guesses, dataset.pairs)) / len(guesses)


def main():
    set_seed(17)
    config = T5Config(vocab_size=len(CHARS) + 2, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4,
                      dropout_rate=0.0, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD,
                      relative_attention_num_buckets=16, relative_attention_max_distance=16)
    model = T5ForConditionalGeneration(config)
    train, test = Dates(6000), Dates(200)
    args = TrainingArguments(output_dir="out", max_steps=900, per_device_train_batch_size=48,
                             learning_rate=3e-3, lr_scheduler_type="cosine", warmup_steps=50, logging_steps=100,
                             eval_strategy="steps", eval_steps=300, save_strategy="no", remove_unused_columns=False,
                             report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model, args, data_collator=collate, train_dataset=train, eval_dataset=test)
    trainer.train()
    print("eval loss", trainer.evaluate()["eval_loss"])
    print("exact match", exact_match(model, test))


if __name__ == "__main__":
    main()
