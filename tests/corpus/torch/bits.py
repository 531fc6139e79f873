import torch
from torch import nn, optim
from torch.utils.data import TensorDataset, DataLoader

# can an MLP find out which 4 of the 18 switches decide the lamp?
torch.manual_seed(2)

SWITCHES, ACTIVE = 18, [1, 6, 9, 14]

x = torch.randint(0, 2, (8000, SWITCHES))
y = x[:, ACTIVE].sum(1) % 2
x = x.float() * 2 - 1
y = y.float().unsqueeze(1)

train_set = TensorDataset(x[:6000], y[:6000])
test_x, test_y = x[6000:], y[6000:]
loader = DataLoader(train_set, batch_size=50, shuffle=True, drop_last=True)

model = nn.Sequential(
    nn.Linear(SWITCHES, 128),
    nn.ReLU(),
    nn.Linear(128, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9)


def test_accuracy():
    model.eval()
    with torch.no_grad():
        acc = ((model(test_x) > 0) == (test_y > 0.5)).float().mean().item()
    model.train()
    return acc


print("lamp is on in %.1f%% of the rows" % (100 * y.mean().item()))
for epoch in range(1, 31):
    epoch_loss = 0
    for inputs, labels in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if epoch % 2 == 0 or epoch == 1:
        print("Epoch %2d: loss %.4f, test accuracy %.2f%%" % (epoch, epoch_loss / len(loader), 100 * test_accuracy()))

# which inputs does the first layer look at?
weight = model[0].weight.abs().mean(0)
print("strongest inputs:", sorted(weight.topk(4).indices.tolist()))
