"""Small ViT on 8x8 number plate glyphs, hand-written loop with a linear decay."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTForImageClassification, get_linear_schedule_with_warmup

settings = {
    "seed": 31,
    "epochs": 8,
    "batch_size": 32,
    "lr": 1e-3,
    "warmup_ratio": 0.1,
    "weight_decay": 0.01,
    "vit": dict(
        image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, num_labels=10, hidden_dropout_prob=0.0,
    ),
}


def get_loaders(batch_size):
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    x = (x - 4.9) / 6.0
    y = torch.tensor(digits.target)
    train_idx, test_idx = train_test_split(range(len(y)), test_size=0.25, stratify=digits.target, random_state=0)
    train = TensorDataset(x[train_idx], y[train_idx])
    test = TensorDataset(x[test_idx], y[test_idx])
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(test, batch_size=256)


def parameter_groups(model, weight_decay):
    plain = [p for n, p in model.named_parameters() if p.ndim < 2 or "embeddings" in n]
    decayed = [p for n, p in model.named_parameters() if not (p.ndim < 2 or "embeddings" in n)]
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def make_optimizer(model, loader, cfg):
    optimizer = torch.optim.AdamW(parameter_groups(model, cfg["weight_decay"]), lr=cfg["lr"])
    total = len(loader) * cfg["epochs"]
    scheduler = get_linear_schedule_with_warmup(optimizer, int(cfg["warmup_ratio"] * total), total)
    return optimizer, scheduler


def train_epoch(model, loader, optimizer, scheduler):
    model.train()
    total, count = 0.0, 0
    for pixel_values, labels in loader:
        out = model(pixel_values=pixel_values, labels=labels)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        total += out.loss.item() * len(labels)
        count += len(labels)
    return total / count


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    hits = total = 0
    for pixel_values, labels in loader:
        hits += (model(pixel_values=pixel_values).logits.argmax(-1) == labels).sum().item()
        total += len(labels)
    return hits / total


def main():
    torch.manual_seed(settings["seed"])
    train_loader, test_loader = get_loaders(settings["batch_size"])
    model = ViTForImageClassification(ViTConfig(**settings["vit"]))
    optimizer, scheduler = make_optimizer(model, train_loader, settings)
    for epoch in range(settings["epochs"]):
        loss = train_epoch(model, train_loader, optimizer, scheduler)
        print(f"epoch {epoch + 1:2d} loss {loss:.4f} test acc {evaluate(model, test_loader):.3f}")
    print(f"final loss {loss:.4f} test accuracy {evaluate(model, test_loader):.3f} (chance 0.100)")


if __name__ == "__main__":
    main()
