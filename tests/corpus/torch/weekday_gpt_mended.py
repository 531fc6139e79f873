"""Small character-level GPT-2 that learns a made-up diary text."""
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(0)
rng = random.Random(0)

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
PEOPLE = ["anna", "boris", "chloe", "david", "elif"]
VERBS = ["paints", "cooks", "reads", "swims", "sleeps"]
PLACES = ["home", "school", "garden", "market"]


def diary(n):
    out = []
    for _ in range(n):
        out.append(f"on {rng.choice(DAYS)} {rng.choice(PEOPLE)} {rng.choice(VERBS)} at {rng.choice(PLACES)}.")
    return " ".join(out)


text = diary(2000)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(data))
BLOCK = 64


class CharBlocks(Dataset):
    def __init__(self, ids, block):
        self.ids = ids
        self.block = block

    def __len__(self):
        return (len(self.ids) - 1) // self.block

    def __getitem__(self, i):
        start = i * self.block
        x = self.ids[start:start + self.block]
        y = x.clone()
        return {"input_ids": x, "labels": y}


config = GPT2Config(
    vocab_size=len(chars), n_positions=128, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0,
)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=4,
    per_device_train_batch_size=16,
    learning_rate=3e-3,
    lr_scheduler_type="cosine",
    logging_steps=50,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=CharBlocks(data[:cut], BLOCK),
    eval_dataset=CharBlocks(data[cut:], BLOCK),
)
trainer.train()

model.eval()
prompt = torch.tensor([[stoi[c] for c in "on monday anna "]])
torch.manual_seed(1)
out = model.generate(
    prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=100,
    do_sample=True, top_k=3, pad_token_id=0, eos_token_id=None,
)
sample = "".join(itos[int(i)] for i in out[0])
print("SAMPLE:", sample)
vocab = set(text.replace(".", "").split())
words = sample.replace(".", " ").split()[3:-1]
known = sum(w in vocab for w in words) / max(1, len(words))
print(f"share of real words in the sample: {known:.2f}")
