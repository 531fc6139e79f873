import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
sc = StandardScaler().fit(X_train)
X_train = torch.from_numpy(sc.transform(X_train))
X_test = torch.from_numpy(sc.transform(X_test))
y_train = torch.from_numpy(y_train).double().view(-1, 1)
y_test = torch.from_numpy(y_test).double().view(-1, 1)

w = torch.zeros(X_train.shape[1], 1, dtype=torch.double, requires_grad=True)
b = torch.zeros(1, dtype=torch.double, requires_grad=True)
bce = torch.nn.BCEWithLogitsLoss()
optimizer = torch.optim.LBFGS([w, b], lr=1, max_iter=5, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = bce(X_train @ w + b, y_train) + 1e-3 * (w ** 2).sum()
    loss.backward()
    return loss


for i in range(6):
    loss = optimizer.step(closure)
    with torch.no_grad():
        pred = (X_test @ w + b > 0).double()
        acc = (pred == y_test).double().mean().item()
    print(f"iter {i}  loss before step {loss.item():.5f}  test acc {acc:.4f}")

print("majority class:", max(y_test.mean().item(), 1 - y_test.mean().item()))
