import random
from collections import deque, namedtuple

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)

SIZE = 5
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]
Transition = namedtuple("Transition", "state action next_state reward done")


def reset():
    return [random.randrange(SIZE) for _ in range(4)]


def observe(s):
    return torch.tensor([v / (SIZE - 1) for v in s] + [(s[2] - s[0]) / SIZE, (s[3] - s[1]) / SIZE])


def move(s, a):
    x = min(max(s[0] + MOVES[a][0], 0), SIZE - 1)
    y = min(max(s[1] + MOVES[a][1], 0), SIZE - 1)
    docked = (x, y) == (s[2], s[3])
    return [x, y, s[2], s[3]], (1.0 if docked else -0.05), docked


policy_net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
target_net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
memory = deque(maxlen=5000)
GAMMA, BATCH = 0.95, 64


def optimize():
    batch = Transition(*zip(*random.sample(memory, BATCH)))
    states, next_states = torch.stack(batch.state), torch.stack(batch.next_state)
    actions = torch.tensor(batch.action).unsqueeze(1)
    rewards, done = torch.tensor(batch.reward), torch.tensor(batch.done).float()

    state_action_values = policy_net(states).gather(1, actions)
    with torch.no_grad():
        next_values = target_net(next_states).max(1).values
    expected = rewards + GAMMA * next_values * (1 - done)

    loss = ((state_action_values - expected) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


steps, wins, losses = 0, deque(maxlen=100), deque(maxlen=200)
for episode in range(500):
    s = reset()
    eps = max(0.05, 1 - episode / 250)
    docked = False
    for _ in range(20):
        obs = observe(s)
        with torch.no_grad():
            a = random.randrange(4) if random.random() < eps else policy_net(obs).argmax().item()
        s, r, docked = move(s, a)
        memory.append(Transition(obs, a, observe(s), r, docked))
        steps += 1
        if len(memory) >= 200:
            losses.append(optimize())
        if steps % 100 == 0:
            target_net.load_state_dict(policy_net.state_dict())
        if docked:
            break
    wins.append(docked)
    if episode % 50 == 49:
        print(f"episode {episode + 1} docked {sum(wins) / len(wins):.2f} loss {sum(losses) / len(losses):.4f}")

good = 0
for _ in range(200):
    s = reset()
    for _ in range(10):
        with torch.no_grad():
            s, _, docked = move(s, policy_net(observe(s)).argmax().item())
        if docked:
            good += 1
            break
print("greedy success", good / 200)
