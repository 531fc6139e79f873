import argparse
import zlib

import numpy as np
import pandas as pd
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--depots", type=int, default=380)
parser.add_argument("--rows", type=int, default=9000)
parser.add_argument("--buckets", type=int, default=4096)
parser.add_argument("--dim", type=int, default=64)
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--seed", type=int, default=17)
args = parser.parse_args()

torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

START = ["Alt", "Neu", "Ober", "Unter", "Klein", "Bad ", "Hohen", "Lang", "Sankt ", "Gross"]
MID = ["linden", "kirch", "wald", "brunn", "stein", "eich", "muehl", "rosen", "falken", "birken"]
END = ["hausen", "berg", "dorf", "feld", "bach", "au"]
STREETS = ["Hauptstr", "Bahnhofstr", "Gartenweg", "Ringstr", "Am Markt", "Schulgasse"]


def build_table():
    towns = [a + m + e for a in START for m in MID for e in END]
    towns = list(rng.choice(towns, args.depots, replace=False))
    rows = []
    for _ in range(args.rows):
        town = towns[rng.integers(len(towns))]
        text = list(f"{rng.choice(STREETS)} {rng.integers(1, 200)} {town}")
        if rng.random() < 0.4:
            text[rng.integers(len(text))] = rng.choice(list("abcdefgh"))
        rows.append(("".join(text), f"DEPOT-{town}"))
    return pd.DataFrame(rows, columns=["address", "depot"])


def ngram_ids(text):
    text = f"#{text.lower()}#"
    return [zlib.crc32(text[i:i + n].encode()) % args.buckets
            for n in (2, 3, 4) for i in range(len(text) - n + 1)]


def pack(lists):
    flat = torch.tensor([i for ids in lists for i in ids])
    lengths = torch.tensor([0] + [len(ids) for ids in lists[:-1]])
    return flat, lengths.cumsum(0)


table = build_table()
depot_names = np.array(sorted(table["depot"].unique()))
name_to_id = {name: i for i, name in enumerate(depot_names)}
table["target"] = table["depot"].map(name_to_id).to_numpy().astype("int64")
grams = [ngram_ids(a) for a in table["address"]]

order = rng.permutation(len(table))
cut = int(0.85 * len(order))
train_idx, test_idx = order[:cut], order[cut:]
targets = torch.from_numpy(table["target"].to_numpy(copy=True)).long()


def batches(indices, size, shuffle):
    if shuffle:
        indices = rng.permutation(indices)
    for i in range(0, len(indices), size):
        part = indices[i:i + size]
        flat, offsets = pack([grams[j] for j in part])
        yield flat, offsets, targets[torch.from_numpy(part)], part


class DepotNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(args.buckets, args.dim, mode="mean")
        self.head = nn.Sequential(nn.Linear(args.dim, 128), nn.ReLU(), nn.Linear(128, len(depot_names)))

    def forward(self, flat, offsets):
        return self.head(self.bag(flat, offsets))


model = DepotNet()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
criterion = nn.CrossEntropyLoss()

for epoch in range(args.epochs):
    model.train()
    total, steps = 0.0, 0
    for flat, offsets, y, _ in batches(train_idx, 128, True):
        optimizer.zero_grad()
        loss = criterion(model(flat, offsets), y)
        loss.backward()
        optimizer.step()
        total, steps = total + loss.item(), steps + 1
    print(f"epoch {epoch} loss {total / steps:.4f}")

model.eval()
routed_right = 0
with torch.no_grad():
    for flat, offsets, _, part in batches(test_idx, 256, False):
        guess = depot_names[model(flat, offsets).argmax(1).numpy()]
        routed_right += int((guess == table["depot"].to_numpy()[part]).sum())
print(f"depots {len(depot_names)}  parcels routed correctly: {routed_right / len(test_idx):.3f}")
