"""A character model of made-up limerick lines with a small GPT-2."""
import random

import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup

WHO = ["a farmer", "a baker", "a sailor", "a lady", "a painter", "a young man", "a doctor"]
PLACE = ["from kent", "of york", "from peru", "of leeds", "from spain", "of crewe"]
DID = ["who lived on a shelf", "who danced with a hen", "who swallowed the moon", "who sang to the tide", "who painted the rain"]

random.seed(4)
torch.manual_seed(4)

lines = [f"there was {random.choice(WHO)} {random.choice(PLACE)} {random.choice(DID)}." for _ in range(900)]
chars = ["~"] + sorted(set("".join(lines)))
index = {c: i for i, c in enumerate(chars)}
LENGTH = max(len(l) for l in lines)


def encode(line):
    return [index[c] for c in line] + [0] * (LENGTH - len(line))


ids = torch.tensor([encode(l) for l in lines])
mask = (torch.arange(LENGTH)[None] < torch.tensor([len(l) for l in lines])[:, None]).long()
train = DataLoader(TensorDataset(ids[:800], mask[:800]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(ids[800:], mask[800:]), batch_size=50)

config = GPT2Config(vocab_size=len(chars), n_positions=96, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=0, eos_token_id=0, pad_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
EPOCHS = 4
scheduler = get_cosine_schedule_with_warmup(optimizer, 20, EPOCHS * len(train))


@torch.no_grad()
def next_char_accuracy():
    model.eval()
    right = total = 0
    for x, m in valid:
        guess = model(input_ids=x, attention_mask=m).logits[:, :-1].argmax(-1)
        keep = m[:, 1:].bool()
        right += (guess == x[:, 1:])[keep].sum().item()
        total += keep.sum().item()
    return right / total


@torch.no_grad()
def write(prompt, n=40):
    model.eval()
    out = torch.tensor([[index[c] for c in prompt]])
    for _ in range(n):
        nxt = model(input_ids=out).logits[:, -1].argmax(-1, keepdim=True)
        out = torch.cat([out, nxt], 1)
    return "".join(chars[i] for i in out[0].tolist())


for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for x, m in train:
        inputs, targets = x[:, :-1], x[:, 1:].clone()
        targets[m[:, 1:] == 0] = -100
        loss = model(input_ids=inputs, attention_mask=m[:, :-1], labels=targets).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    print(f"epoch {epoch + 1} loss {total / len(train):.3f} next-char acc {next_char_accuracy():.3f}")
print(write("there was a "))
