import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def get_loaders(batch_size=48):
    digits = load_digits()
    images = digits.images[:, None].astype("float32") / 16.0
    tr_x, te_x, tr_y, te_y = train_test_split(images, digits.target, test_size=0.3, stratify=digits.target, random_state=5)
    order = te_y.argsort(kind="stable")          # report goes digit by digit
    te_x, te_y = te_x[order], te_y[order]
    train = TensorDataset(torch.tensor(tr_x), torch.tensor(tr_y))
    test = TensorDataset(torch.tensor(te_x), torch.tensor(te_y))
    return DataLoader(train, batch_size, shuffle=True, drop_last=True), DataLoader(test, 16)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.4), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


def train_epoch(model, loader, loss_fn, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def test(model, loader):
    per_digit = torch.zeros(10, 2)
    for x, y in loader:
        guess = model(x).argmax(dim=1)
        for g, t in zip(guess, y):
            per_digit[t, 0] += float(g == t)
            per_digit[t, 1] += 1
    return per_digit[:, 0] / per_digit[:, 1], (per_digit[:, 0].sum() / per_digit[:, 1].sum()).item()


if __name__ == "__main__":
    torch.manual_seed(5)
    train_loader, test_loader = get_loaders()
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    for epoch in range(1, 9):
        loss = train_epoch(model, train_loader, nn.CrossEntropyLoss(), optimizer)
        each, acc = test(model, test_loader)
        print(f"{epoch}: loss {loss:.3f}, test accuracy {acc:.3f}")
    print("per digit:", [round(v, 2) for v in each.tolist()])
