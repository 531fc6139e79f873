import random

import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(9)
rng = random.Random(9)
GRAPES = ["riesling", "merlot", "malbec", "syrah", "gamay", "pinot", "fiano", "grillo"]
PLACES = ["valley", "hillside", "coast", "river", "plateau"]
YEARS = [str(y) for y in range(2010, 2020)]
FORMAL = {w: i + 1 for i, w in enumerate(GRAPES + PLACES + YEARS)}
SPOKEN = {w: i + 1 for i, w in enumerate(rng.sample(GRAPES + PLACES + YEARS, 23) + ["the", "from", "bottle", "please"])}
bottles = [(g, p, y) for g in GRAPES for p in PLACES for y in YEARS]
rng.shuffle(bottles)


def example(bottle):
    words = list(bottle) + rng.sample(["the", "from", "bottle", "please"], 2)
    rng.shuffle(words)
    return {"query": [SPOKEN[w] for w in words], "card": [FORMAL[w] for w in bottle]}


class Orders(torch.utils.data.Dataset):
    def __init__(self, known):
        self.known = known

    def __len__(self):
        return len(self.known)

    def __getitem__(self, i):
        return example(self.known[i])


class TwoTowers(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.query = nn.Sequential(nn.EmbeddingBag(28, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.card = nn.Sequential(nn.EmbeddingBag(24, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, query, card):
        q = nn.functional.normalize(self.query(query), dim=-1)
        c = nn.functional.normalize(self.card(card), dim=-1)
        scores = self.scale.exp() * q @ c.T
        target = torch.arange(len(q), device=q.device)
        loss = (nn.functional.cross_entropy(scores, target) + nn.functional.cross_entropy(scores.T, target)) / 2
        return {"loss": loss, "query_vectors": q, "card_vectors": c}


test = [example(b) for b in bottles[340:]]
args = TrainingArguments("out/cellar_lookup", learning_rate=5e-3, num_train_epochs=70, per_device_train_batch_size=64,
                         dataloader_drop_last=True, logging_steps=60, save_strategy="no", report_to="none",
                         disable_tqdm=True)
model = TwoTowers()
Trainer(model=model, args=args, train_dataset=Orders(bottles[:340])).train()

model.eval()
with torch.no_grad():
    out = model(torch.tensor([r["query"] for r in test]), torch.tensor([r["card"] for r in test]))
best = (out["query_vectors"] @ out["card_vectors"].T).argmax(-1)
print("recall@1 among", len(test), "unseen bottles:", (best == torch.arange(len(test))).float().mean().item())
