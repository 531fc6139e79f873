"""Genre-conditioned melody language model, trained on an endless generator of tunes."""
import math
import random

import torch
from torch import nn
from torch.utils.data import IterableDataset
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed)

NOTES = ["C", "D", "E", "F", "G", "A", "B", "c"]
GENRES = ["march", "waltz", "blues", "reel", "hymn", "tango"]
BOS = len(NOTES)
LENGTH = 12


def motif_table():
    rng = random.Random(100)
    table = []
    for _ in GENRES:
        rows = [rng.sample(range(len(NOTES)), 2) for _ in range(len(NOTES) + 1)]
        table.append(rows)
    return table


TABLE = motif_table()


def tune(genre, rng):
    ids, last = [BOS], BOS
    for _ in range(LENGTH):
        a, b = TABLE[genre][last]
        last = a if rng.random() < 0.85 else b
        ids.append(last)
    return ids


def tune_stream(seed, limit=None):
    rng = random.Random(seed)
    made = 0
    while limit is None or made < limit:
        g = rng.randrange(len(GENRES))
        yield {"input_ids": tune(g, rng), "genre": g}
        made += 1


class Stream(IterableDataset):
    def __init__(self, seed):
        self.seed = seed

    def __iter__(self):
        return tune_stream(self.seed)


class ConditionalLM(nn.Module):
    def __init__(self, config, n_genres):
        super().__init__()
        self.gpt = GPT2LMHeadModel(config)
        self.genre_emb = nn.Embedding(n_genres, config.n_embd)
        nn.init.normal_(self.genre_emb.weight, std=0.1)

    def forward(self, input_ids, labels=None, **features):
        x = self.gpt.transformer.wte(input_ids)
        if features.get("genre") is not None:
            x = x + self.genre_emb(features["genre"]).unsqueeze(1)
        out = self.gpt(inputs_embeds=x, labels=labels)
        return {"loss": out.loss, "logits": out.logits}


def collate(rows):
    batch = {k: torch.tensor([r[k] for r in rows]) for k in rows[0]}
    batch["labels"] = batch["input_ids"].clone()
    batch["labels"][:, 0] = -100
    return batch


class MelodyTrainer(Trainer):
    def log(self, logs, *args, **kwargs):
        if "loss" in logs:
            logs["ppl"] = round(math.exp(logs["loss"]), 3)
        super().log(logs, *args, **kwargs)


def continuation_quality(model, n=40):
    model.eval()
    good = total = 0
    for g in range(len(GENRES)):
        ids = torch.full((n, 1), BOS)
        genre = torch.full((n,), g)
        for _ in range(LENGTH):
            with torch.no_grad():
                logits = model(input_ids=ids, genre=genre)["logits"][:, -1]
            nxt = torch.multinomial(logits.softmax(-1), 1)
            for prev, new in zip(ids[:, -1].tolist(), nxt[:, 0].tolist()):
                good += new in TABLE[g][prev]
                total += 1
            ids = torch.cat([ids, nxt], 1)
    return good / total


def main():
    set_seed(12)
    config = GPT2Config(vocab_size=len(NOTES) + 1, n_positions=LENGTH + 1, n_embd=48, n_layer=2,
                        n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=BOS, eos_token_id=BOS)
    model = ConditionalLM(config, len(GENRES))
    args = TrainingArguments("out", max_steps=350, per_device_train_batch_size=32,
                             learning_rate=3e-3, warmup_steps=20, logging_steps=50,
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
                             remove_unused_columns=False)
    held_out = list(tune_stream(999, limit=300))
    trainer = MelodyTrainer(model=model, args=args, train_dataset=Stream(1),
                            eval_dataset=held_out, data_collator=collate)
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"uniform loss {math.log(len(NOTES)):.4f}")
    print(f"eval loss {loss:.4f}  perplexity {math.exp(loss):.3f}")
    print(f"share of generated notes that fit the genre {continuation_quality(model):.4f}")


if __name__ == "__main__":
    main()
