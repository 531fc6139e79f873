# sentence embeddings: a headline and its re-wording should lie close together
import random
import torch
import torch.nn.functional as F
from torch import nn
from datasets import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(13)
random.seed(13)
syn = [("fire", "blaze"), ("police", "officers"), ("wins", "takes"), ("cup", "trophy"), ("storm", "gale"),
       ("hits", "strikes"), ("coast", "shore"), ("mayor", "councillor"), ("quits", "resigns"), ("firm", "company"),
       ("buys", "acquires"), ("rival", "competitor"), ("jobs", "posts"), ("cut", "axed"), ("road", "highway"),
       ("closed", "shut"), ("child", "kid"), ("found", "discovered"), ("ship", "vessel"), ("sinks", "founders"),
       ("prices", "costs"), ("rise", "climb"), ("doctor", "medic"), ("ill", "sick")]
ids = {w: i + 1 for i, w in enumerate(w for pair in syn for w in pair)}


def pair(_):
    concepts = random.sample(syn, 5)
    a = [ids[random.choice(c)] for c in concepts]
    b = [ids[random.choice(c)] for c in random.sample(concepts, 5)]
    return {"anchor": a, "positive": b}


class Encoder(nn.Module):
    def __init__(self, n, dim=64, temperature=0.05):
        super().__init__()
        self.emb = nn.Embedding(n, dim)
        self.proj = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, dim))
        self.temperature = temperature

    def encode(self, x):
        return F.normalize(self.proj(self.emb(x).mean(1)), dim=-1)

    def forward(self, anchor, positive, return_loss=True):
        a, p = self.encode(anchor), self.encode(positive)
        sims = a @ p.T / self.temperature
        target = torch.arange(len(a), device=a.device)
        loss = (F.cross_entropy(sims, target) + F.cross_entropy(sims.T, target)) / 2
        return {"loss": loss, "a": a, "p": p}


train, test = (Dataset.from_list([pair(i) for i in range(n)]) for n in (6000, 500))
model = Encoder(len(ids) + 1)
args = TrainingArguments("twins", num_train_epochs=6, per_device_train_batch_size=100, learning_rate=5e-3,
                         per_device_eval_batch_size=100, dataloader_drop_last=True, logging_steps=60,
                         eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=test)
trainer.train()

model.eval()
with torch.no_grad():
    t = test.with_format("torch")[:]
    sims = model.encode(t["anchor"]) @ model.encode(t["positive"]).T
print("recall@1 among 500:", (sims.argmax(1) == torch.arange(500)).float().mean().item())
