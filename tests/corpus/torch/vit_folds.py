# 3-fold cross validation of a mini ViT on 8x8 digits, plain loop
import copy

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from torch.utils.data import DataLoader, TensorDataset
from transformers import ViTConfig, ViTForImageClassification, get_cosine_schedule_with_warmup

torch.manual_seed(0)
EPOCHS = 20

images, target = load_digits(return_X_y=True)
images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
target = torch.tensor(target)


class Fold:
    """One fold: its own copy of the starting weights, its own loaders and optimizer."""

    def __init__(self, start, train_idx, test_idx, lr=3e-3, batch=64):
        self.model = copy.deepcopy(start)
        self.train = DataLoader(TensorDataset(images[train_idx], target[train_idx]), batch, shuffle=True)
        self.test = DataLoader(TensorDataset(images[test_idx], target[test_idx]), 256)
        self.opt, self.sched = self.plan(start, lr)

    def plan(self, net, lr):
        decay = [p for p in net.parameters() if p.ndim > 1]
        rest = [p for p in net.parameters() if p.ndim <= 1]
        opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05},
                                 {"params": rest, "weight_decay": 0.0}], lr=lr)
        total = EPOCHS * len(self.train)
        return opt, get_cosine_schedule_with_warmup(opt, total // 10, total)

    def epoch(self):
        self.model.train()
        losses = []
        for x, y in self.train:
            loss = self.model(pixel_values=x, labels=y).loss
            self.model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.sched.step()
            losses.append(loss.item())
        return np.mean(losses)

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = [(self.model(pixel_values=x).logits.argmax(-1) == y).float() for x, y in self.test]
        return torch.cat(hits).mean().item()


start = ViTForImageClassification(ViTConfig(
    image_size=8, patch_size=2, num_channels=1, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=10))

results = []
splits = StratifiedKFold(3, shuffle=True, random_state=0).split(images.numpy().reshape(len(images), -1), target.numpy())
for k, (tr, te) in enumerate(splits):
    fold = Fold(start, torch.from_numpy(tr), torch.from_numpy(te))
    for e in range(EPOCHS):
        loss = fold.epoch()
        print(f"fold {k} epoch {e} loss {loss:.3f}")
    results.append(fold.accuracy())
    print(f"fold {k}: accuracy {results[-1]:.3f}")

print(f"mean {np.mean(results):.3f} +- {np.std(results):.3f}")
