import random

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification

random.seed(6)
torch.manual_seed(6)

worth = {"oak": 3.0, "pine": -1.0, "velvet": 2.0, "plastic": -2.0, "brass": 1.5, "scratched": -1.5, "signed": 2.5, "wobbly": -2.5}
plain = "a nice chair table lamp from my aunt with legs in good order for sale".split()
vocab = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + plain + list(worth))}


def make(n):
    rows = []
    for _ in range(n):
        found = random.sample(list(worth), random.randint(1, 4))
        words = found + random.choices(plain, k=random.randint(4, 9))
        random.shuffle(words)
        ids = [1] + [vocab[w] for w in words]
        rows.append((ids + [0] * (16 - len(ids)), sum(worth[w] for w in found) + random.gauss(0, 0.3)))
    x = torch.tensor([r[0] for r in rows])
    y = torch.tensor([r[1] for r in rows])
    return x, y


x_train, y_train = make(1600)
x_test, y_test = make(300)

config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=16, num_labels=1, problem_type="regression",
                    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

model.train()
for epoch in range(10):
    order = torch.randperm(len(x_train))
    total = 0.0
    for i in range(0, len(order), 32):
        idx = order[i:i + 32]
        out = model(input_ids=x_train[idx], attention_mask=(x_train[idx] > 0).long(), labels=y_train[idx])
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += out.loss.item()
    print(f"epoch {epoch + 1} mse {total / (len(order) // 32):.3f}")

# Monte Carlo dropout: thirty passes with dropout on, mean for the price and spread for the doubt
model.train()
with torch.no_grad():
    passes = torch.stack([model(input_ids=x_test, attention_mask=(x_test > 0).long()).logits.squeeze(-1) for _ in range(30)])
mean, std = passes.mean(0), passes.std(0)
r2 = 1 - ((mean - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
error = (mean - y_test).abs()
print(f"r2 {r2:.3f}  mean doubt {std.mean():.3f}  error where sure {error[std < std.median()].mean():.3f}"
      f"  error where unsure {error[std >= std.median()].mean():.3f}")
