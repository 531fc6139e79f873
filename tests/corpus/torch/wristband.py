import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

torch.manual_seed(17)

ACTIVITIES = ["walk", "run", "stairs", "sit", "cycle"]
STEPS, CHANNELS = 40, 3


def windows(activity, n):
    t = torch.arange(STEPS) / 20.0
    speed = {"walk": 1.8, "run": 2.9, "stairs": 1.3, "sit": 0.1, "cycle": 1.0}[activity]
    height = {"walk": 0.6, "run": 1.4, "stairs": 0.9, "sit": 0.05, "cycle": 0.4}[activity]
    freq = speed + 0.15 * torch.randn(n, 1, 1)
    phase = 6.28 * torch.rand(n, 1, CHANNELS)
    amp = height * (1 + 0.15 * torch.randn(n, 1, 1)) * torch.tensor([1.0, 0.7, 0.5])
    return amp * torch.sin(6.28 * freq * t[None, :, None] + phase) + 0.15 * torch.randn(n, STEPS, CHANNELS)


def record(n_per_activity):
    signals, labels = [], []
    for i, name in enumerate(ACTIVITIES):
        signals.append(windows(name, n_per_activity))
        labels.append(torch.full((n_per_activity,), i))
    return TensorDataset(torch.cat(signals), torch.cat(labels))


class WristModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(CHANNELS, 32)
        self.encoder = BertForSequenceClassification(BertConfig(
            vocab_size=4, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
            max_position_embeddings=STEPS, num_labels=len(ACTIVITIES), hidden_dropout_prob=0.05))

    def forward(self, x, labels=None):
        return self.encoder(inputs_embeds=self.project(x), labels=labels)


train_loader = DataLoader(record(200), batch_size=32)
test_loader = DataLoader(record(50), batch_size=64)

model = WristModel()
EPOCHS = 20
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = get_linear_schedule_with_warmup(optimizer, 20, EPOCHS * len(train_loader))

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        out = model(x, labels=y)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        running += out.loss.item()

    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in test_loader:
            hits += (model(x).logits.argmax(-1) == y).sum().item()
    print(f"epoch {epoch + 1}: train loss {running / len(train_loader):.3f}  test acc {hits / len(test_loader.dataset):.3f}")
