import torch
import torch.nn as nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset

torch.manual_seed(0)
CLASSES = ["cat", "dog", "horse", "sheep"]
centres = torch.randn(4, 16) * 1.2
folders = []
for label, name in enumerate(CLASSES):
    vectors = centres[label] + torch.randn(400, 16)
    folders.append(TensorDataset(vectors, torch.full((400,), label)))
    print(name, len(folders[-1]))
dataset = ConcatDataset(folders)
loader = DataLoader(dataset, batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    for vectors, labels in loader:
        loss = criterion(model(vectors), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    test_x = torch.cat([c + torch.randn(50, 16) for c in centres])
    test_y = torch.arange(4).repeat_interleave(50)
    with torch.no_grad():
        print("epoch", epoch, "accuracy", (model(test_x).argmax(1) == test_y).float().mean().item())
