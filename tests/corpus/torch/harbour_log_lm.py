# Tiny GPT-2 on synthetic harbour log lines, trained with the HF Trainer.
import random
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(7)
rng = random.Random(7)

SHIPS = ["aurora", "bramble", "corvus", "dorado", "elsa", "fjord"]
HOME = dict(zip(SHIPS, ["oslo", "cork", "turku", "vigo", "malmo", "bergen"]))
CARGO = dict(zip(HOME.values(), ["timber", "butter", "paper", "citrus", "steel", "fish"]))
VERBS = ["arrived", "left"]
HOURS = ["dawn", "noon", "dusk", "night"]


def log_line():
    ship = rng.choice(SHIPS)
    verb = rng.choice(VERBS)
    hour = rng.choice(HOURS)
    port = HOME[ship]
    prep = "from" if verb == "arrived" else "for"
    return ["the", ship, verb, "at", hour, prep, port, "with", CARGO[port], "end"]


VOCAB = ["<pad>", "<s>"] + sorted({w for _ in range(3000) for w in log_line()})
STOI = {w: i for i, w in enumerate(VOCAB)}
CONTEXT = 41


class LogBlocks(Dataset):
    """Each item is a block of four log lines behind a start token."""

    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            words = ["<s>"]
            for _ in range(4):
                words += log_line()
            self.rows.append(torch.tensor([STOI[w] for w in words]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return {"input_ids": row[:-1], "labels": row[1:]}


config = GPT2Config(
    vocab_size=len(VOCAB), n_positions=64, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    bos_token_id=1, eos_token_id=STOI["end"], pad_token_id=0,
)
model = GPT2LMHeadModel(config)
train_set, eval_set = LogBlocks(1500), LogBlocks(200)

args = TrainingArguments(
    output_dir="out", num_train_epochs=5, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, learning_rate=2e-3, warmup_ratio=0.1, weight_decay=0.01,
    eval_strategy="epoch", logging_steps=40, save_strategy="no", report_to=[], use_cpu=True,
    disable_tqdm=True, seed=7,
)
trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=eval_set)
trainer.train()

# continue some prompts and look at whether the port and the cargo belong to the ship
model.eval()
good = 0
for ship in SHIPS:
    prompt = torch.tensor([[STOI[w] for w in ["<s>", "the", ship, "arrived", "at", "noon"]]])
    out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=5, do_sample=False)
    words = [VOCAB[i] for i in out[0, 1:].tolist()]
    expect = ["from", HOME[ship], "with", CARGO[HOME[ship]], "end"]
    good += int(np.sum([a == b for a, b in zip(words[5:], expect)]))
    print(" ".join(words))
print(f"continuation words right: {good}/{5 * len(SHIPS)}")
