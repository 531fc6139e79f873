import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(4)
images = torch.from_numpy(load_digits().images).float()[:, None] / 16
perm = torch.randperm(len(images))
train, test = images[perm[:1500]], images[perm[1500:]]


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(1, 16, 3, stride=2, padding=1)
        self.down2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.up1 = nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1)
        self.up2 = nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(a))
        up = F.relu(self.up1(b))
        return torch.sigmoid(self.up2(torch.cat([up, a], dim=1)))


def psnr(a, b):
    return -10 * math.log10(F.mse_loss(a, b).item())


def noisy(x):
    return (x + 0.3 * torch.randn_like(x)).clamp(0, 1)


net = Denoiser()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
test_in = noisy(test)
print(f"noisy input psnr {psnr(test_in, test):.2f} dB")
for epoch in range(1, 16):
    net.train()
    running = 0.0
    for clean in train[torch.randperm(len(train))].split(50):
        optimizer.zero_grad()
        loss = F.mse_loss(net(noisy(clean)), clean)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(clean)
    if epoch % 3 == 0:
        net.eval()
        with torch.no_grad():
            print(f"epoch {epoch} train mse {running / len(train):.4f} test psnr {psnr(net(test_in), test):.2f} dB")
