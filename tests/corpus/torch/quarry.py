import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTModel, get_cosine_schedule_with_warmup

torch.manual_seed(2)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8.0 - 1.0
targets = torch.tensor(digits.target)
tr, te = train_test_split(range(len(targets)), test_size=0.2, stratify=targets, random_state=0)
train_loader = DataLoader(TensorDataset(images[tr], targets[tr]), batch_size=32, shuffle=True, drop_last=True)
test_loader = DataLoader(TensorDataset(images[te], targets[te]), batch_size=128)

config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=3,
                   num_attention_heads=4, intermediate_size=128, hidden_dropout_prob=0.0)


class DigitReader(nn.Module):
    def __init__(self, config, classes):
        super().__init__()
        self.backbone = ViTModel(config, add_pooling_layer=False)
        self.classifier = nn.Linear(config.hidden_size, classes)

    def forward(self, pixel_values):
        h = self.backbone(pixel_values=pixel_values).last_hidden_state
        return self.classifier(h[:, 1:].mean(1))


model = DigitReader(config, 10)
criterion = nn.CrossEntropyLoss(reduction="sum", label_smoothing=0.1)
epochs = 14
opt_body = torch.optim.AdamW(model.backbone.parameters(), lr=1e-3, weight_decay=0.05)
opt_head = torch.optim.SGD(model.classifier.parameters(), lr=0.002, momentum=0.9)
sched = get_cosine_schedule_with_warmup(opt_body, 60, epochs * len(train_loader))

for epoch in range(epochs):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = criterion(model(x), y)
        for opt in (opt_body, opt_head):
            opt.zero_grad()
        loss.backward()
        opt_head.step()
        opt_body.step()
        sched.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch:2d}  summed loss per image {total / (len(train_loader) * 32):.3f}  test acc {hits / len(te):.3f}")
