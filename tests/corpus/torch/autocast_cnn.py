import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(11)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
dataset = TensorDataset(images, torch.tensor(digits.target))
train_set, val_set = random_split(dataset, [1500, len(dataset) - 1500])
train_dl = DataLoader(train_set, batch_size=50, shuffle=True, drop_last=True)
val_dl = DataLoader(val_set, batch_size=99)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.head = nn.Linear(32 * 4, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.c1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.c2(x)), 2)
        return self.head(x.reshape(len(x), -1))


net = Net()
optim = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(5):
    net.train()
    for images, target in train_dl:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(images)
            loss = nn.functional.cross_entropy(out.float(), target)
        optim.zero_grad()
        loss.backward()
        optim.step()
    net.eval()
    n_right = 0
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for images, target in val_dl:
            n_right += (net(images).argmax(1) == target).sum().item()
    print(epoch, loss.item(), n_right / len(val_set))
