"""Pretrain a small ViT on digits 0-4, then adapt it to 5-9: only LayerNorms, the last block and the new head learn."""
import tempfile
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
d = load_digits()
images = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
labels = torch.tensor(d.target)
low = labels < 5


def run(model, x, y, optimizer, epochs, sched=None, tune=True):
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        if tune:
            model.eval()       # adaptation: the pretrained body stays as it was
        else:
            model.train()
        total = 0.0
        for xb, yb in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(pixel_values=xb, labels=yb)
            out.loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            total += out.loss.item()
        if sched:
            sched.step()
        print(f"  epoch {epoch + 1:2d} loss {total / len(loader):.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(pixel_values=x).logits.argmax(-1) == y).float().mean().item()


config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=48, num_hidden_layers=3, num_attention_heads=4,
                   intermediate_size=96, num_labels=5)
base = ViTForImageClassification(config)
print("pretraining on 0-4")
run(base, images[low], labels[low], torch.optim.AdamW(base.parameters(), lr=1e-3), 15, tune=False)
print(f"accuracy on 0-4 (seen rows): {accuracy(base, images[low], labels[low]):.3f}")

with tempfile.TemporaryDirectory() as folder:
    base.save_pretrained(folder)
    model = ViTForImageClassification.from_pretrained(folder)
torch.nn.init.zeros_(model.classifier.weight)
torch.nn.init.zeros_(model.classifier.bias)
adapted = []
for name, p in model.named_parameters():
    p.requires_grad = name.startswith("classifier") or "layernorm" in name or "encoder.layer.2" in name
    if p.requires_grad and not name.startswith("classifier"):
        adapted.append(p)
learn = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"{learn} of {sum(p.numel() for p in model.parameters())} weights learn")
optimizer = torch.optim.AdamW([{"params": model.classifier.parameters(), "lr": 2e-2},
                               {"params": adapted, "lr": 3e-3}], weight_decay=0.0)

x, y = images[~low], labels[~low] - 5
perm = torch.randperm(len(x))
tr, te = perm[:600], perm[600:]
print(f"before: {accuracy(model, x[te], y[te]):.3f}")
run(model, x[tr], y[tr], optimizer, 15, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 15))
print(f"after: train {accuracy(model, x[tr], y[tr]):.3f}  test {accuracy(model, x[te], y[te]):.3f}")
