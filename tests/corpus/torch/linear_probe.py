"""How much does the encoder know about negation? A linear probe on its frozen states."""
from pathlib import Path

import torch
from datasets import load_dataset
from transformers import AutoModel, AutoTokenizer

ASSETS = next(p for p in Path(__file__).resolve().parents if (p / "assets").is_dir()) / "assets"
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(ASSETS / "distilbert-mini")
encoder = AutoModel.from_pretrained(ASSETS / "distilbert-mini")
for p in encoder.parameters():
    p.requires_grad = False
encoder.eval()

rows = load_dataset(str(ASSETS / "nli"), "3_labels", split="train").select(range(1200))
texts = rows["hypothesis"]
labels = torch.tensor([int(" not " in f" {t} " or " no " in f" {t} " or "nobody" in t.lower()) for t in texts])
print("share of negations", labels.float().mean().item())


class Probe(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = torch.nn.Linear(encoder.config.dim, 2)

    def forward(self, **inputs):
        states = self.encoder(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        return self.head((states * mask).sum(1) / mask.sum(1))


probe = Probe(encoder)
opt = torch.optim.Adam(probe.head.parameters(), lr=1e-2)
order = torch.randperm(1000)
for epoch in range(2):
    for i in range(0, 1000, 32):
        pick = order[i:i + 32]
        batch = tokenizer([texts[j] for j in pick.tolist()], padding=True, return_tensors="pt")
        loss = torch.nn.functional.cross_entropy(probe(**batch), labels[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        held = tokenizer([texts[j] for j in range(1000, 1200)], padding=True, return_tensors="pt")
        acc = (probe(**held).argmax(-1) == labels[1000:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {acc:.3f}")
