import torch
from torch.utils.data import DataLoader, TensorDataset

gen = torch.Generator().manual_seed(9)
area = torch.rand(2000, generator=gen) * 100 + 30
rooms = (area / 25 + torch.rand(2000, generator=gen)).floor()
age = torch.rand(2000, generator=gen) * 60
price = 2.1 * area + 12 * rooms - 0.8 * age + 5 * torch.randn(2000, generator=gen)  # thousands
features = torch.stack([(area - area.mean()) / area.std(), (rooms - rooms.mean()) / rooms.std(), (age - age.mean()) / age.std()], 1)

loader = DataLoader(TensorDataset(features[:1600], price[:1600].unsqueeze(1)), batch_size=32, shuffle=True, generator=gen)
torch.manual_seed(9)
model = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
loss_fn = torch.nn.MSELoss()
for epoch in range(10):
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(features[1600:]).squeeze(1) - price[1600:]).abs().mean()
    print(f"epoch {epoch}: mse {loss.item():.1f}, mean error {error:.1f} thousand")
