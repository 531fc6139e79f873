"""Find the crate in a warehouse picture: its box and what is printed on it."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIDE = 64


@dataclass
class Options:
    train: int = 1200
    test: int = 200
    epochs: int = 16
    batch_size: int = 32
    lr: float = 1e-3
    seed: int = 6


def pictures(n, g):
    images = 0.15 * torch.randn(n, 1, SIDE, SIDE, generator=g)
    boxes, marks = torch.zeros(n, 4), torch.randint(0, 4, (n,), generator=g)
    for i in range(n):
        w, h = torch.randint(16, 29, (2,), generator=g).tolist()
        x = int(torch.randint(0, SIDE - w, (1,), generator=g))
        y = int(torch.randint(0, SIDE - h, (1,), generator=g))
        patch = torch.full((h, w), 0.4)
        if marks[i] == 0:
            patch[::4] = 1.0
        elif marks[i] == 1:
            patch[:, ::4] = 1.0
        elif marks[i] == 2:
            patch[::4, ::4] = 1.0
        images[i, 0, y:y + h, x:x + w] += patch
        boxes[i] = torch.tensor([x, y, x + w, y + h], dtype=torch.float32)
    return TensorDataset(images, boxes, marks)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 8 * 8, 96), nn.ReLU(),
        )
        self.box = nn.Linear(96, 4)
        self.mark = nn.Linear(96, 4)

    def forward(self, x):
        h = self.body(x)
        return self.box(h), self.mark(h)


def iou(a, b):
    lt, rb = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    return inter / ((a[:, 2:] - a[:, :2]).clamp(min=0).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - inter + 1e-6)


def main(opt):
    torch.manual_seed(opt.seed)
    g = torch.Generator().manual_seed(opt.seed)
    train = DataLoader(pictures(opt.train, g), batch_size=opt.batch_size, shuffle=True)
    test = DataLoader(pictures(opt.test, g), batch_size=100)
    model = Detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    box_loss, mark_loss = nn.MSELoss(), nn.CrossEntropyLoss()
    for epoch in range(opt.epochs):
        model.train()
        sums = torch.zeros(2)
        for images, boxes, marks in train:
            pred_boxes, pred_marks = model(images)
            l_box = box_loss(pred_boxes, boxes)
            l_mark = mark_loss(pred_marks, marks)
            loss = l_box + l_mark
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([l_box.item(), l_mark.item()])
        model.eval()
        overlap, hits = [], 0
        with torch.no_grad():
            for images, boxes, marks in test:
                pred_boxes, pred_marks = model(images)
                overlap.append(iou(pred_boxes, boxes))
                hits += (pred_marks.argmax(1) == marks).sum().item()
        box, mark = (sums / len(train)).tolist()
        print(f"epoch {epoch + 1} box {box:.4f} mark {mark:.4f} iou {torch.cat(overlap).mean():.3f} mark acc {hits / opt.test:.3f}")


if __name__ == "__main__":
    main(Options())
