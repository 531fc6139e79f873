import random
import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

random.seed(8)
torch.manual_seed(8)

SHOPS = {"bread": "bakery", "stamps": "post", "pills": "chemist", "nails": "hardware", "cod": "fishmonger",
         "roses": "florist", "novel": "bookshop", "cash": "bank"}
PEOPLE = ["ann", "bob", "cem", "dora", "eli", "fay"]
words = ["<pad>", "<eos>", "needs", "and", "go", "to", "the", "then", "answer"] + PEOPLE + list(SHOPS) + list(SHOPS.values())
stoi = {w: i for i, w in enumerate(words)}


def example():
    things = random.sample(list(SHOPS), random.randint(1, 3))
    prompt = [random.choice(PEOPLE), "needs"]
    answer = ["go", "to"]
    for i, thing in enumerate(things):
        prompt += (["and"] if i else []) + [thing]
        answer += (["then"] if i else []) + ["the", SHOPS[thing]]
    return [stoi[w] for w in prompt + ["answer"]], [stoi[w] for w in answer + ["<eos>"]]


def collate(rows):
    width = max(len(p) + len(a) for p, a in rows)
    ids, mask, labels = [], [], []
    for p, a in rows:
        gap = width - len(p) - len(a)
        ids.append(p + a + [0] * gap)
        mask.append([1] * (len(p) + len(a)) + [0] * gap)
        labels.append([-100] * len(p) + a + [-100] * gap)
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(labels)}


train = DataLoader([example() for _ in range(900)], batch_size=24, shuffle=True, collate_fn=collate)
test = [example() for _ in range(100)]

config = GPT2Config(vocab_size=len(words), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=1, eos_token_id=1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
model = GPT2LMHeadModel(config)
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
epochs = 5
scheduler = get_linear_schedule_with_warmup(optimizer, 30, epochs * len(train))

for epoch in range(epochs):
    model.train()
    total = 0.0
    for batch in train:
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        total += loss.item()
    print(f"epoch {epoch + 1} loss {total / len(train):.4f}")

model.eval()
exact = 0
with torch.no_grad():
    for prompt, answer in test:
        ids = list(prompt)
        while len(ids) < len(prompt) + 12:
            ids.append(model(torch.tensor([ids])).logits[0, -1].argmax().item())
            if ids[-1] == stoi["<eos>"]:
                break
        exact += ids[len(prompt):] == answer
print(f"exact match {exact / len(test):.2f}")
