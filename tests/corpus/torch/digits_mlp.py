from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
import torch
from torch import nn

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
X_train, y_train = torch.tensor(X_train), torch.tensor(y_train)
X_test = torch.tensor(X_test)

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(64, 128), nn.BatchNorm1d(128), nn.GELU(), nn.Dropout(0.5),
    nn.Linear(128, 10),
)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)

for epoch in range(12):
    net.train()
    perm = torch.randperm(len(X_train))
    total = 0
    for chunk in perm.split(50):
        opt.zero_grad(set_to_none=True)
        loss = loss_fn(net(X_train[chunk]), y_train[chunk])
        loss.backward()
        opt.step()
        total += loss.item() * len(chunk)
    net.eval()
    with torch.inference_mode():
        predicted = net(X_test).argmax(1).numpy()
    print(epoch, round(total / len(X_train), 4), accuracy_score(y_test, predicted))
