"""A small GPT-2 over recipe-like sentences, trained with the Trainer."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(21)

COOKS = ["anna", "boris", "chen", "dora"]
VERBS = {"chop": ["onion", "carrot", "leek"], "boil": ["rice", "pasta", "egg"],
         "bake": ["bread", "cake", "pie"], "fry": ["fish", "tofu", "bacon"]}
TOOLS = {"chop": "knife", "boil": "pot", "bake": "oven", "fry": "pan"}


def sentence(rng):
    parts = []
    for _ in range(3):
        verb = rng.choice(list(VERBS))
        thing = rng.choice(VERBS[verb])
        parts += [rng.choice(COOKS), "will", verb, "the", thing, "with", "the", TOOLS[verb], "."]
    return parts


WORDS = ["<pad>", "<s>", "</s>", "will", "the", "with", "."] + COOKS + list(VERBS) + list(TOOLS.values())
WORDS += [w for v in VERBS.values() for w in v]
STOI = {w: i for i, w in enumerate(WORDS)}


class RecipeSet(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            self.rows.append([STOI["<s>"]] + [STOI[w] for w in sentence(rng)] + [STOI["</s>"]])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = torch.tensor(self.rows[i])
        return {"input_ids": row, "labels": row}


def complete(model, words, n=6):
    ids = torch.tensor([[STOI["<s>"]] + [STOI[w] for w in words]])
    model.eval()
    for _ in range(n):
        with torch.no_grad():
            nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    return " ".join(WORDS[i] for i in ids[0, 1:].tolist())


def grammar_score(model, n=40):
    """Share of greedy continuations of 'COOK will VERB' that form a valid sentence."""
    rng = random.Random(99)
    good = 0
    for _ in range(n):
        verb = rng.choice(list(VERBS))
        out = complete(model, [rng.choice(COOKS), "will", verb]).split()
        good += (out[3] == "the" and out[4] in VERBS[verb] and out[5:7] == ["with", "the"]
                 and out[7] == TOOLS[verb] and out[8] == ".")
    return good / n


config = GPT2Config(vocab_size=len(WORDS), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=STOI["<s>"], eos_token_id=STOI["</s>"], pad_token_id=STOI["<pad>"])
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    num_train_epochs=4,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    warmup_ratio=0.05,
    logging_steps=50,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=RecipeSet(2400, 1), eval_dataset=RecipeSet(300, 2))
trainer.train()
print("perplexity", float(np.exp(trainer.evaluate()["eval_loss"])))
print("sample:", complete(model, ["anna", "will", "bake"]))
print("valid continuations:", grammar_score(model))
