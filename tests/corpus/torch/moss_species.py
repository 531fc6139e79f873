"""Few-shot recognition of moss species from leaf descriptors (prototypical network)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpeciesBank:
    """Descriptors of many species. What tells them apart has little variance."""

    def __init__(self, n_species, per_species, seed, dim=48, signal=6):
        mixer = np.linalg.qr(np.random.default_rng(99).normal(size=(dim, dim)))[0]
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(n_species):
            centre = rng.normal(0, 1.0, signal)
            s = centre + rng.normal(0, 0.35, (per_species, signal))
            nuisance = rng.normal(0, 1.6, (per_species, dim - signal))
            rows.append(np.concatenate([s, nuisance], axis=1) @ mixer)
        self.x = torch.tensor(np.stack(rows), dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def episode(self, ways, shots, queries, generator):
        species = torch.randperm(len(self), generator=generator)[:ways]
        order = torch.randperm(self.x.shape[1], generator=generator)[:shots + queries]
        chosen = self.x[species][:, order]
        support, query = chosen[:, :shots], chosen[:, shots:]
        target = torch.arange(ways).repeat_interleave(queries)
        return support, query.reshape(ways * queries, -1), target


class ProtoNet(nn.Module):
    def __init__(self, dim, hidden=96, out=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(dim, hidden), nn.ReLU(),
            nn.Linear(hidden, out))
        self.log_temperature = nn.Parameter(torch.zeros(()))

    @torch.no_grad()
    def embed(self, x):
        return self.encoder(x)

    def prototypes(self, support):
        ways, shots, dim = support.shape
        return self.embed(support.reshape(ways * shots, dim)).reshape(ways, shots, -1).mean(1)

    def forward(self, support, query):
        distances = torch.cdist(self.embed(query), self.prototypes(support)).pow(2)
        return -distances * self.log_temperature.exp()


class RunningMean:
    def __init__(self, keep=0.98):
        self.keep, self.value = keep, None

    def update(self, v):
        self.value = v if self.value is None else self.keep * self.value + (1 - self.keep) * v
        return self.value


def evaluate(model, bank, args, episodes=100):
    model.eval()
    g = torch.Generator().manual_seed(1234)
    scores = []
    for _ in range(episodes):
        support, query, target = bank.episode(args.ways, args.shots, args.queries, g)
        logits = model(support, query)
        scores.append((logits.argmax(1) == target).float().mean().item())
    half = 1.96 * np.std(scores) / np.sqrt(len(scores))
    return float(np.mean(scores)), half


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ways", type=int, default=5)
    parser.add_argument("--shots", type=int, default=3)
    parser.add_argument("--queries", type=int, default=8)
    parser.add_argument("--episodes", type=int, default=1500)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    train_bank = SpeciesBank(120, 30, seed=1)
    test_bank = SpeciesBank(40, 30, seed=2)
    model = ProtoNet(train_bank.x.shape[-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=600, gamma=0.5)
    g = torch.Generator().manual_seed(args.seed)
    mean_loss = RunningMean()

    for step in range(1, args.episodes + 1):
        model.train()
        support, query, target = train_bank.episode(args.ways, args.shots, args.queries, g)
        loss = F.cross_entropy(model(support, query), target)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        smooth = mean_loss.update(loss.item())
        if step % 300 == 0:
            acc, half = evaluate(model, test_bank, args)
            print(f"episode {step:5d}  loss {smooth:.3f}  unseen species {acc:.3f} +- {half:.3f}")


if __name__ == "__main__":
    main()
