"""Learn the dynamics of a damped pendulum by unrolling a network with Euler steps."""
import argparse
import torch
import torch.nn as nn

DT = 0.1


def true_force(state):
    angle, speed = state[..., 0], state[..., 1]
    return torch.stack([speed, -4.0 * torch.sin(angle) - 0.25 * speed], dim=-1)


def simulate(n, steps, fine=20):
    """Reference trajectories with a much smaller step, (n, steps + 1, 2)."""
    state = torch.stack([torch.empty(n).uniform_(-2.0, 2.0), torch.empty(n).uniform_(-1.0, 1.0)], dim=-1)
    out = [state]
    for _ in range(steps):
        for _ in range(fine):
            state = state + DT / fine * true_force(state)
        out.append(state)
    return torch.stack(out, dim=1)


class Dynamics(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.field = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 2),
        )

    def forward(self, start, steps):
        path = torch.zeros(start.size(0), steps + 1, 2)
        path[:, 0] = start
        for t in range(steps):
            path[:, t + 1] = path[:, t] + DT * self.field(path[:, t])
        return path


def rollout_error(model, paths):
    model.eval()
    with torch.no_grad():
        pred = model(paths[:, 0], paths.size(1) - 1)
    return (pred - paths).pow(2).mean().sqrt().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=600)
    parser.add_argument("--horizon", type=int, default=12)
    parser.add_argument("--lr", type=float, default=3e-3)
    opts = parser.parse_args()

    torch.manual_seed(31)
    train_paths = simulate(400, 60)
    test_paths = simulate(100, 60)

    model = Dynamics()
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    print("untrained, error over 60 steps: %.3f" % rollout_error(model, test_paths))

    for it in range(1, opts.iters + 1):
        model.train()
        # random windows from random trajectories
        who = torch.randint(0, len(train_paths), (64,))
        when = torch.randint(0, 60 - opts.horizon, (1,)).item()
        window = train_paths[who, when : when + opts.horizon + 1]

        pred = model(window[:, 0], opts.horizon)
        loss = (pred - window).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 100 == 0:
            print(f"iter {it}: window loss {loss.item():.5f}, error over 60 steps {rollout_error(model, test_paths):.3f}")


if __name__ == "__main__":
    main()
