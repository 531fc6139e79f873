"""Double DQN on a small warehouse grid: fetch the parcel, then carry it to the gate."""
import copy
import random
from collections import deque

import torch
import torch.nn as nn

SIZE, HORIZON = 5, 40
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class Warehouse:
    def reset(self):
        cells = [(r, c) for r in range(SIZE) for c in range(SIZE)]
        self.robot, self.parcel, self.gate = random.sample(cells, 3)
        self.carrying, self.t = False, 0
        return self.observe()

    def observe(self):
        grid = torch.zeros(3, SIZE, SIZE)
        grid[0][self.robot] = 1
        if not self.carrying:
            grid[1][self.parcel] = 1
        grid[2][self.gate] = 1
        return grid.flatten()

    def step(self, action):
        dr, dc = MOVES[action]
        r, c = self.robot
        self.robot = (min(max(r + dr, 0), SIZE - 1), min(max(c + dc, 0), SIZE - 1))
        self.t += 1
        reward, done = -0.02, False
        if not self.carrying and self.robot == self.parcel:
            self.carrying, reward = True, 0.5
        elif self.carrying and self.robot == self.gate:
            reward, done = 1.0, True
        return self.observe(), reward, done, self.t >= HORIZON


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(3 * SIZE * SIZE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.value, self.advantage = nn.Linear(128, 1), nn.Linear(128, 4)

    def forward(self, s):
        h = self.base(s)
        adv = self.advantage(h)
        return self.value(h) + adv - adv.mean(-1, keepdim=True)


random.seed(2)
torch.manual_seed(2)
online = Dueling()
target = copy.deepcopy(online).requires_grad_(False)
optimizer = torch.optim.Adam(online.parameters(), lr=7e-4)
memory = deque(maxlen=20000)
env = Warehouse()


def learn(batch_size=64, gamma=0.95, polyak=0.01):
    s, a, r, s2, d = zip(*random.sample(memory, batch_size))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float32)
    with torch.no_grad():
        best = online(s2).argmax(1, keepdim=True)
        goal = r + gamma * (1 - d) * target(s2).gather(1, best).squeeze(1)
    loss = nn.functional.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.lerp_(fast, polyak)
    return loss.item()


def play(eps):
    state, ret, done, cut = env.reset(), 0.0, False, False
    while not (done or cut):
        with torch.no_grad():
            act = random.randrange(4) if random.random() < eps else online(state).argmax().item()
        nxt, reward, done, cut = env.step(act)
        yield state, act, reward, nxt, done
        state = nxt


steps, losses, delivered = 0, [], deque(maxlen=100)
for episode in range(1, 1201):
    for transition in play(max(0.05, 1 - steps / 10000)):
        memory.append(transition)
        steps += 1
        if steps > 500 and steps % 2 == 0:
            losses.append(learn())
    delivered.append(transition[-1])
    if episode % 150 == 0:
        print(f"episode {episode:5d}  steps {steps:6d}  td loss {sum(losses[-500:]) / 500:.4f}  delivered {sum(delivered) / len(delivered):.2f}")

wins = sum([*play(0.0)][-1][-1] for _ in range(200))
print(f"greedy policy: {wins / 200:.2f} of the parcels delivered")
