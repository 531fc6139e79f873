"""Small character level GPT-2 on generated cooking instructions, trained with the HF Trainer."""
import os
import random

os.environ["USE_TF"] = "0"
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(3)
VERBS = ["chop", "slice", "boil", "fry", "whisk", "bake", "drain", "peel", "knead", "simmer"]
FOODS = ["onion", "carrot", "butter", "rice", "dough", "garlic", "lentils", "pepper", "spinach",
         "tomato", "flour", "cream", "salmon", "noodles"]
PLACES = ["pan", "bowl", "oven", "pot", "tray"]
ADVERBS = ["slowly", "gently", "twice", "again", "well"]


def sentence(rng):
    s = f"{rng.choice(VERBS)} the {rng.choice(FOODS)}"
    if rng.random() < 0.5:
        s += f" and the {rng.choice(FOODS)}"
    if rng.random() < 0.6:
        s += f" in the {rng.choice(PLACES)}"
    if rng.random() < 0.4:
        s += f" {rng.choice(ADVERBS)}"
    return s + ". "


def corpus(n, seed):
    rng = random.Random(seed)
    return "".join(sentence(rng) for _ in range(n))


train_text, valid_text = corpus(1600, 0), corpus(300, 1)
chars = sorted(set(train_text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}


class CharBlocks(Dataset):
    def __init__(self, text, block=32):
        ids = torch.tensor([stoi[c] for c in text])
        self.blocks = [ids[i:i + block] for i in range(0, len(ids) - block, block)]

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, i):
        b = self.blocks[i]
        return {"input_ids": b[:-1], "labels": b[1:]}


train_ds, valid_ds = CharBlocks(train_text), CharBlocks(valid_text)

config = GPT2Config(vocab_size=len(chars), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir="out/recipe_gpt",
    num_train_epochs=6,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=5e-3,
    warmup_ratio=0.05,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    logging_steps=50,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
    seed=3,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=valid_ds)
trainer.train()
print("eval:", trainer.evaluate())


def next_char_report(ds):
    model.eval()
    hit, n, nll = 0, 0, 0.0
    with torch.no_grad():
        for i in range(0, len(ds), 64):
            ids = torch.stack(ds.blocks[i:i + 64])
            logits = model(input_ids=ids).logits[:, :-1]
            gold = ids[:, 1:]
            hit += (logits.argmax(-1) == gold).sum().item()
            nll += torch.nn.functional.cross_entropy(
                logits.reshape(-1, logits.size(-1)), gold.reshape(-1), reduction="sum").item()
            n += gold.numel()
    return hit / n, float(np.exp(nll / n))


def sample(prompt, n=60):
    ids = [stoi[c] for c in prompt]
    with torch.no_grad():
        for _ in range(n):
            logits = model(input_ids=torch.tensor([ids[-32:]])).logits[0, -1]
            ids.append(int(torch.multinomial(torch.softmax(logits / 0.7, -1), 1)))
    return "".join(itos[i] for i in ids)


acc, ppl = next_char_report(valid_ds)
counts = np.bincount([stoi[c] for c in valid_text])
print("sample:", repr(sample("fry the ")))
print(f"valid next-char accuracy {acc:.3f} perplexity {ppl:.2f} "
      f"(most frequent char {counts.max() / counts.sum():.3f})")
