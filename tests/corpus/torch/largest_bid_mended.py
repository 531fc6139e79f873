"""Tiny GPT-2 on a packed stream of auctions '3,5,9>9;' (bids, then the largest), then asked in batches."""
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(5)
random.seed(5)

CHARS = list("0123456789,>;")
STOI = {c: i for i, c in enumerate(CHARS)}
END = STOI[";"]
BLOCK = 32


def auction():
    bids = [random.randint(0, 9) for _ in range(random.randint(1, 4))]
    return ",".join(map(str, bids)) + ">", str(max(bids))


class PackedAuctions(Dataset):
    """Each block starts at an auction and is filled up with further ones, so training needs no padding."""

    def __init__(self, n):
        self.blocks = []
        for _ in range(n):
            text = ""
            while len(text) < BLOCK:
                text += "".join(auction()) + ";"
            self.blocks.append(torch.tensor([STOI[c] for c in text[:BLOCK]]))

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, i):
        return {"input_ids": self.blocks[i], "labels": self.blocks[i]}


def batch_prompts(prompts):
    longest = max(map(len, prompts))
    ids, mask = [], []
    for p in prompts:
        row, fill = [STOI[c] for c in p], longest - len(p)
        ids.append([END] * fill + row)
        mask.append([0] * fill + [1] * len(row))
    return torch.tensor(ids), torch.tensor(mask)


@torch.no_grad()
def answer(model, prompts):
    ids, mask = batch_prompts(prompts)
    pos = (mask.cumsum(1) - 1).clamp(min=0)
    logits = model(input_ids=ids, attention_mask=mask, position_ids=pos).logits
    return [CHARS[k] for k in logits[:, -1].argmax(-1).tolist()]


model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(CHARS), n_positions=BLOCK, n_embd=64, n_layer=2, n_head=4, initializer_range=0.05,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=END, eos_token_id=END))
args = TrainingArguments(
    output_dir="out", per_device_train_batch_size=32, num_train_epochs=3,
    learning_rate=3e-3, lr_scheduler_type="cosine", warmup_ratio=0.05, logging_steps=75,
    save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=PackedAuctions(6000))
trainer.train()

model.eval()
asked = [auction() for _ in range(600)]
good = 0
for k in range(0, len(asked), 50):
    part = asked[k:k + 50]
    got = answer(model, [q for q, _ in part])
    good += sum(g == a for g, (_, a) in zip(got, part))
print(f"answers right: {good / len(asked):.3f}")
