import random
import torch
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(2024)
rnd = random.Random(2024)

VERBS = {"chop": ["onion", "carrot", "leek"], "boil": ["rice", "egg", "pasta"], "bake": ["bread", "cake", "pie"],
         "whisk": ["cream", "batter", "yolk"], "grill": ["fish", "corn", "steak"]}
TOOLS = {"chop": "knife", "boil": "pot", "bake": "oven", "whisk": "bowl", "grill": "pan"}
MINUTES = ["two", "five", "nine", "twenty"]


def step():
    v = rnd.choice(list(VERBS))
    n = rnd.choice(VERBS[v])
    return f"{v} the {n} in a {TOOLS[v]} for {rnd.choice(MINUTES)} minutes ."


words = sorted({w for v, ns in VERBS.items() for w in [v, TOOLS[v], *ns]} | set(MINUTES)
               | {"the", "in", "a", "for", "minutes", "."})
stoi = {w: i + 1 for i, w in enumerate(words)}
itos = {i: w for w, i in stoi.items()}
BLOCK = 48


def corpus(n_tokens):
    ids = []
    while len(ids) < n_tokens:
        ids += [stoi[w] for w in step().split()]
    return ids


def blocks(ids):
    rows = {"input_ids": [], "labels": []}
    for i in range(0, len(ids) - BLOCK - 1, BLOCK):
        chunk = ids[i:i + BLOCK + 1]
        rows["input_ids"].append(chunk[:-1])
        rows["labels"].append(chunk[1:])
    return Dataset.from_dict(rows)


train_ds, val_ds = blocks(corpus(60000)), blocks(corpus(5000))


def collate(feats):
    return {k: torch.tensor([f[k] for f in feats]) for k in ("input_ids", "labels")}


config = GPT2Config(vocab_size=len(words) + 1, n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config)

targs = TrainingArguments(
    output_dir="out", per_device_train_batch_size=32, per_device_eval_batch_size=64,
    num_train_epochs=8, learning_rate=2e-3, lr_scheduler_type="cosine", warmup_steps=20, weight_decay=0.01,
    logging_steps=40, eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
)
trainer = Trainer(model=model, args=targs, train_dataset=train_ds, eval_dataset=val_ds, data_collator=collate)
trainer.train()
print(trainer.evaluate())

model.eval()
legal = total = 0
for v in VERBS:
    for _ in range(8):
        prompt = torch.tensor([[stoi["."], stoi[v], stoi["the"]]])
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=5,
                             do_sample=True, top_k=0, pad_token_id=0)
        text = [itos.get(t, "?") for t in out[0].tolist()][1:]
        legal += text[2] in VERBS[v] and text[3:5] == ["in", "a"] and text[5] == TOOLS[v]
        total += 1
    print(" ".join(text))
print(f"legal continuations {legal}/{total}")
