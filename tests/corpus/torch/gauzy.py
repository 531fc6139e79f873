import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
S, G = 32, 4


def scenes(n):
    x = 0.3 * torch.randn(n, 1, S, S)
    obj = torch.zeros(n, G, G)
    box = torch.zeros(n, 3, G, G)
    for i in range(n):
        for _ in range(int(torch.randint(0, 3, (1,)))):
            cx, cy, r = (torch.rand(3) * torch.tensor([24.0, 24.0, 3.0]) + torch.tensor([4.0, 4.0, 2.5])).tolist()
            gx, gy = int(cx // 8), int(cy // 8)
            if obj[i, gy, gx]:
                continue
            yy, xx = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")
            x[i, 0][((xx - cx) ** 2 + (yy - cy) ** 2) < r * r] += 1.5
            obj[i, gy, gx] = 1
            box[i, :, gy, gx] = torch.tensor([cx / 8 - gx, cy / 8 - gy, r / 8])
    return x, obj, box


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1), nn.GroupNorm(4, o), nn.ReLU())
        self.features = nn.Sequential(block(1, 16), block(16, 32), block(32, 64))
        self.head = nn.Conv2d(64, 4, 3, padding=1)
        nn.init.constant_(self.head.bias[:1], -2.0)

    def forward(self, x):
        out = self.head(self.features(x))
        return out[:, 0], out[:, 1:].sigmoid()


x_train, o_train, b_train = scenes(900)
x_val, o_val, b_val = scenes(200)
model = Detector()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)

for epoch in range(14):
    model.train()
    sums = torch.zeros(2)
    steps = 0
    for idx in torch.randperm(len(x_train)).split(32):
        score, box = model(x_train[idx])
        obj = o_train[idx]
        weight = torch.where(obj > 0, 4.0, 0.6)
        loss_obj = F.binary_cross_entropy_with_logits(score, obj, weight=weight)
        miss = F.smooth_l1_loss(box, b_train[idx], reduction="none").sum(1) * obj
        loss_box = miss.sum() / obj.sum().clamp(min=1)
        loss = loss_obj + 5.0 * loss_box
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums += torch.tensor([loss_obj.item(), loss_box.item()])
        steps += 1
    model.eval()
    with torch.no_grad():
        score, box = model(x_val)
    hit = (score > 0) & (o_val > 0)
    precision = hit.sum() / (score > 0).sum().clamp(min=1)
    recall = hit.sum() / o_val.sum()
    off = ((box - b_val).abs()[:, :2].mean(1)[o_val > 0]).mean() * 8
    print(f"epoch {epoch + 1} obj {sums[0] / steps:.4f} box {sums[1] / steps:.4f} "
          f"precision {precision:.3f} recall {recall:.3f} centre error {off:.2f}px")
