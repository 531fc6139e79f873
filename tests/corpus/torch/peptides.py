import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(12)
rng = np.random.default_rng(12)
AA = "ACDEFGHIKLMNPQRSTVWY"
HYDROPHOBIC, CHARGED = set("AILMFVW"), set("DEKR")


def peptide():
    chain = "".join(rng.choice(list(AA), int(rng.integers(12, 40))))
    marks = []
    for i in range(len(chain)):
        window = chain[max(0, i - 2): i + 3]
        hydro = sum(c in HYDROPHOBIC for c in window)
        charge = sum(c in CHARGED for c in window)
        mark = 1 if hydro >= 3 else 2 if charge >= 2 else 0
        marks.append(int(rng.integers(3)) if rng.random() < 0.08 else mark)
    return torch.tensor([AA.index(c) + 1 for c in chain]), torch.tensor(marks)


class SegmentNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(len(AA) + 1, dim, padding_idx=0)
        self.conv = nn.Sequential(nn.Conv1d(dim, 64, 5, padding=2), nn.ReLU(), nn.Dropout(0.2),
                                  nn.Conv1d(64, 64, 3, padding=1), nn.ReLU(), nn.Dropout(0.2))
        self.out = nn.Linear(64, 3)

    def forward(self, ids):
        return self.out(self.conv(self.emb(ids).transpose(1, 2)).transpose(1, 2))


train, test = [peptide() for _ in range(1500)], [peptide() for _ in range(300)]
MICRO, PER_UPDATE, SAMPLES = 10, 5, 15


def micro_batches(data, size):
    for part in torch.randperm(len(data)).split(size):
        ids = pad_sequence([data[i][0] for i in part], batch_first=True)
        marks = pad_sequence([data[i][1] for i in part], batch_first=True, padding_value=-1)
        yield ids, marks


model = SegmentNet()
criterion = nn.CrossEntropyLoss(ignore_index=-1, reduction="sum")
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=8 * 30)

for epoch in range(8):
    model.train()
    residues, epoch_loss, epoch_residues = 0, 0.0, 0
    for k, (ids, marks) in enumerate(micro_batches(train, MICRO), start=1):
        loss = criterion(model(ids).flatten(0, 1), marks.flatten())
        loss.backward()
        n = (marks >= 0).sum().item()
        residues, epoch_residues, epoch_loss = residues + n, epoch_residues + n, epoch_loss + loss.item()
        if k % PER_UPDATE == 0:
            for p in model.parameters():
                p.grad.div_(residues)
            grad = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            residues = 0
    print(f"epoch {epoch} loss per residue {epoch_loss / epoch_residues:.4f} last grad norm {grad:.3f}")


def monte_carlo(net, ids):
    net.eval()
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.train()
    with torch.no_grad():
        draws = torch.stack([net(ids).softmax(-1) for _ in range(SAMPLES)])
    return draws.mean(0), draws.std(0).mean(-1)


right, total, doubts = 0, 0, []
counts = torch.zeros(3)
for ids, marks in micro_batches(test, 50):
    probs, doubt = monte_carlo(model, ids)
    real = marks >= 0
    hit = probs.argmax(-1) == marks
    right, total = right + hit[real].sum().item(), total + real.sum().item()
    counts += torch.bincount(marks[real], minlength=3)
    doubts.append(doubt[real])
print(f"residue accuracy {right / total:.4f}, commonest mark {(counts.max() / total):.4f}")
print(f"mean spread between the {SAMPLES} draws {torch.cat(doubts).mean():.4f}")
