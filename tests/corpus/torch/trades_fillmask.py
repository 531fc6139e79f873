"""Whole-word masked language model on short village chronicles, judged by filling blanks in unseen ones."""
import argparse
import random
import time
from collections import Counter

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast, Trainer, TrainerCallback, TrainingArguments, set_seed

ap = argparse.ArgumentParser()
ap.add_argument("--n_texts", type=int, default=4000)
ap.add_argument("--vocab", type=int, default=320)
ap.add_argument("--mask_rate", type=float, default=0.2)
ap.add_argument("--max_steps", type=int, default=500)
cli = ap.parse_args()
set_seed(21)

# ---------------------------------------------------------------- text
TRADES = {  # trade: what they do, with what, where, for whom
    "baker": ("bakes", "bread", "oven", "bakery", "hungry children"),
    "smith": ("hammers", "horseshoes", "anvil", "forge", "riders"),
    "miller": ("grinds", "flour", "millstone", "mill", "bakers"),
    "tailor": ("sews", "jackets", "needle", "workshop", "wedding guests"),
    "potter": ("shapes", "bowls", "wheel", "studio", "cooks"),
    "fisher": ("catches", "herring", "net", "harbour", "market women"),
    "painter": ("paints", "portraits", "brush", "attic", "merchants"),
    "printer": ("prints", "pamphlets", "press", "cellar", "students"),
    "cooper": ("builds", "barrels", "mallet", "yard", "brewers"),
    "weaver": ("weaves", "carpets", "loom", "cottage", "nobles"),
}
NAMES = ["marta", "jonas", "agnes", "peter", "lena", "tomas", "clara", "hugo", "ines", "karl"]
TOWNS = ["ashford", "birkdale", "corby", "dunmore", "elmsley", "farnham"]
SEASONS = {"spring": "rain", "summer": "dust", "autumn": "fog", "winter": "snow"}


def chronicle(rng):
    trade, (verb, goods, tool, place, buyers) = rng.choice(list(TRADES.items()))
    season, weather = rng.choice(list(SEASONS.items()))
    sentences = [
        f"in {season} , when {weather} lies on the road , {rng.choice(NAMES)} the {trade} of {rng.choice(TOWNS)} {verb} {goods} .",
        rng.choice([f"the {tool} stands in the {place} .", f"you can hear the {tool} from outside the {place} ."]),
        rng.choice([f"most {goods} are sold to {buyers} .", f"{buyers} pay well for good {goods} ."]),
    ]
    return " ".join(sentences[:1] + rng.sample(sentences[1:], rng.randint(1, 2)))


rng = random.Random(21)
training = [chronicle(rng) for _ in range(cli.n_texts)]
known = set(training)
held_out = [t for t in (chronicle(rng) for _ in range(600)) if t not in known]

core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
core.normalizer = normalizers.Lowercase()
core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
core.train_from_iterator(training, trainers.WordPieceTrainer(vocab_size=cli.vocab, special_tokens=["[PAD]", "[UNK]", "[MASK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")


def tokenize(batch):
    encoded = [core.encode(t, add_special_tokens=False) for t in batch["text"]]
    return {"input_ids": [e.ids for e in encoded], "word_ids": [e.word_ids for e in encoded]}


train_ds = Dataset.from_dict({"text": training}).map(tokenize, batched=True, remove_columns=["text"])


class WholeWordCollator:
    def __init__(self, tokenizer, rate):
        self.tokenizer, self.rate = tokenizer, rate
        self.rng = np.random.default_rng(0)

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        ids = torch.full((len(rows), width), self.tokenizer.pad_token_id)
        chosen = torch.zeros((len(rows), width), dtype=torch.bool)
        for i, r in enumerate(rows):
            ids[i, : len(r["input_ids"])] = torch.tensor(r["input_ids"])
            words = np.array(r["word_ids"])
            picked = np.unique(words)[self.rng.random(len(np.unique(words))) < self.rate]
            chosen[i, : len(words)] = torch.from_numpy(np.isin(words, picked))
        attention_mask = (ids != self.tokenizer.pad_token_id).long()
        ids[chosen] = self.tokenizer.mask_token_id
        labels = ids.masked_fill(~chosen, -100)
        return {"input_ids": ids, "attention_mask": attention_mask, "labels": labels}


class Pace(TrainerCallback):
    def on_train_begin(self, args, state, control, **kw):
        self.t0 = time.time()

    def on_log(self, args, state, control, logs=None, **kw):
        if logs and "loss" in logs:
            print(f"step {state.global_step:4d}  loss {logs['loss']:.4f}  lr {logs['learning_rate']:.2e}  {time.time() - self.t0:.0f} s")


model = BertForMaskedLM(BertConfig(
    vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=96, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=0, initializer_range=0.05))

trainer = Trainer(
    model=model,
    args=TrainingArguments("out/trades_fillmask", max_steps=cli.max_steps, per_device_train_batch_size=32, learning_rate=2e-3,
                           lr_scheduler_type="cosine", warmup_steps=40, logging_steps=100, save_strategy="no", report_to="none",
                           remove_unused_columns=False, disable_tqdm=True, seed=21),
    train_dataset=train_ds,
    data_collator=WholeWordCollator(tokenizer, cli.mask_rate),
    callbacks=[Pace()],
)
trainer.train()

# ---------------------------------------------------------------- fill one word per held-out chronicle
model.eval()
pick = np.random.default_rng(5)
counts = Counter(w for t in training for w in t.split())
right, guess_common, shown = [], [], 0
for text in held_out[:200]:
    enc = core.encode(text, add_special_tokens=False)
    words = text.split()
    w = int(pick.integers(len(words)))
    at = [k for k, i in enumerate(enc.word_ids) if i == w]
    x = torch.tensor([enc.ids])
    x[0, at] = tokenizer.mask_token_id
    with torch.no_grad():
        filled = model(input_ids=x, attention_mask=torch.ones_like(x)).logits[0, at].argmax(-1).tolist()
    right.append(filled == [enc.ids[k] for k in at])
    guess_common.append(words[w] == counts.most_common(1)[0][0])
    if shown < 3:
        print("  ", " ".join(words[:w] + ["____"] + words[w + 1:]), "->", tokenizer.decode(filled), f"({words[w]})")
        shown += 1
print(f"blanks filled right: {np.mean(right):.3f}   always {counts.most_common(1)[0][0]!r}: {np.mean(guess_common):.3f}")
