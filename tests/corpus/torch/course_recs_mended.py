"""Two-tower retrieval: match learners to courses from their profile and the course sheet."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--learners", type=int, default=3000)
    p.add_argument("--courses", type=int, default=400)
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--batch", type=int, default=128)
    return p.parse_args()


def make_world(n_learners, n_courses, rng):
    topics = rng.normal(size=(n_courses, 6))
    course_sheet = np.concatenate(
        [np.tanh(topics @ rng.normal(size=(6, 10))), rng.normal(size=(n_courses, 40))], axis=1)
    taste = rng.normal(size=(n_learners, 6))
    profile = np.concatenate(
        [np.tanh(taste @ rng.normal(size=(6, 12))), 0.3 * rng.normal(size=(n_learners, 10))], axis=1)
    affinity = taste @ topics.T
    affinity = affinity / np.linalg.norm(topics, axis=1)
    clicks = []
    for u in range(n_learners):
        p = np.exp(2.0 * affinity[u] - (2.0 * affinity[u]).max())
        clicks.append(rng.choice(n_courses, size=4, p=p / p.sum()))
    return profile.astype("float32"), course_sheet.astype("float32"), np.array(clicks)


def tower(n_in, dim):
    return nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, dim))


class TwoTower(nn.Module):
    def __init__(self, n_profile, n_sheet, dim):
        super().__init__()
        self.learner_tower = tower(n_profile, dim)
        self.course_tower = tower(n_sheet, dim)
        self.scale = nn.Parameter(torch.tensor(5.0))

    def embed_learners(self, x):
        return F.normalize(self.learner_tower(x), dim=-1)

    def embed_courses(self, x):
        return F.normalize(self.course_tower(x), dim=-1)

    @torch.no_grad()
    def catalogue(self, sheet, chunk=256):
        self.eval()
        parts = [self.embed_courses(sheet[i:i + chunk]) for i in range(0, len(sheet), chunk)]
        self.train()
        return torch.cat(parts)


def hit_rate(model, profile, sheet, clicks, k=20):
    index = model.catalogue(sheet)
    with torch.no_grad():
        top = (model.embed_learners(profile) @ index.T).topk(k, dim=1).indices
    hits = (top.unsqueeze(1) == clicks.unsqueeze(2)).any(-1).float()
    return hits.mean().item()


def main():
    args = get_args()
    rng = np.random.default_rng(3)
    torch.manual_seed(3)
    profile, sheet, clicks = make_world(args.learners, args.courses, rng)
    profile, sheet, clicks = map(torch.from_numpy, (profile, sheet, clicks))
    n_train = int(0.8 * args.learners)

    model = TwoTower(profile.shape[1], sheet.shape[1], args.dim)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        total, seen = 0.0, 0
        for rows in torch.randperm(n_train).split(args.batch):
            courses = model.embed_courses(sheet)
            learners = model.embed_learners(profile[rows])
            logits = model.scale * learners @ courses.T
            picked = clicks[rows, torch.randint(0, clicks.shape[1], (len(rows),))]
            loss = F.cross_entropy(logits, picked)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
            seen += len(rows)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} loss {total / seen:.4f}")

    print("train hit@20 %.4f" % hit_rate(model, profile[:n_train], sheet, clicks[:n_train]))
    print("test  hit@20 %.4f (random %.4f)" % (
        hit_rate(model, profile[n_train:], sheet, clicks[n_train:]), 20 / args.courses))


if __name__ == "__main__":
    main()
