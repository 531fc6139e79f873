# Few labelled heartbeats, many unlabelled ones:
# train an autoencoder on all of them, then a linear classifier on its code.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
LENGTH = 64
KINDS = ["normal", "wide", "inverted"]


def beats(kind):
    """A rough sketch of an ECG beat: P wave, QRS complex, T wave."""
    n = len(kind)
    t = torch.linspace(0, 1, LENGTH).expand(n, LENGTH)
    shift = 0.04 * torch.randn(n, 1)
    gain = 1 + 0.2 * torch.randn(n, 1)

    def bump(at, width, height):
        return height * torch.exp(-((t - at - shift) / width) ** 2)

    qrs_width = torch.where(kind == 1, 0.07, 0.025).unsqueeze(1)
    t_height = torch.where(kind == 2, -0.5, 0.4).unsqueeze(1)
    x = bump(0.25, 0.04, 0.25) + bump(0.45, qrs_width, 1.4) + bump(0.72, 0.07, t_height)
    return (gain * x + 0.12 * torch.randn(n, LENGTH)).unsqueeze(1)


def draw(n):
    kind = torch.multinomial(torch.tensor([0.6, 0.2, 0.2]), n, replacement=True)
    return beats(kind), kind


pool, _ = draw(4000)
few_x, few_y = draw(90)
test_x, test_y = draw(1000)

encoder = nn.Sequential(
    nn.Conv1d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 16, 16),
)
decoder = nn.Sequential(
    nn.Linear(16, 16 * 16), nn.ReLU(), nn.Unflatten(1, (16, 16)),
    nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1),
)

# stage 1: reconstruction, no labels
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for epoch in range(8):
    for (x,) in DataLoader(TensorDataset(pool), batch_size=100, shuffle=True):
        loss = nn.functional.mse_loss(decoder(encoder(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"autoencoder epoch {epoch + 1}: {loss.item():.4f}")

# stage 2: the encoder stays as it is, only the classifier learns
encoder.requires_grad_(False)
encoder.eval()
z_pool = encoder(pool)
centre, spread = z_pool.mean(0), z_pool.std(0)


def code(x):
    return (encoder(x) - centre) / spread


probe = nn.Linear(16, len(KINDS))
opt = torch.optim.SGD(probe.parameters(), lr=0.5)
loader = DataLoader(TensorDataset(few_x, few_y), batch_size=30, shuffle=True)
for epoch in range(20):
    for x, y in loader:
        loss = nn.functional.cross_entropy(probe(code(x)), y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        guess = probe(code(test_x)).argmax(dim=1)
        per_kind = [f"{k} {(guess[test_y == i] == i).float().mean().item():.2f}" for i, k in enumerate(KINDS)]
        print(f"probe epoch {epoch + 1}: loss {loss.item():.3f}  test acc {(guess == test_y).float().mean().item():.3f} ", *per_kind)
