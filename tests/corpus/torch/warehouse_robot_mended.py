"""Q-learning with a small net: a robot in a 6x6 hall has to reach the charger in the far corner."""
import copy
import random
from collections import deque

import torch
from torch import nn

random.seed(2)
torch.manual_seed(2)

SIDE, GOAL, LIMIT = 6, (5, 5), 40
WALLS = {(1, 1), (1, 2), (1, 3), (3, 2), (3, 3), (3, 4), (4, 1)}
MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]
GAMMA, TAU = 0.95, 0.02


def observe(cell):
    v = torch.zeros(2 * SIDE)
    v[cell[0]] = 1.0
    v[SIDE + cell[1]] = 1.0
    return v


def move(cell, a):
    nxt = (cell[0] + MOVES[a][0], cell[1] + MOVES[a][1])
    if not (0 <= nxt[0] < SIDE and 0 <= nxt[1] < SIDE) or nxt in WALLS:
        nxt = cell
    done = nxt == GOAL
    return nxt, (1.0 if done else 0.0), done


def make_net():
    return nn.Sequential(nn.Linear(2 * SIDE, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                         nn.Linear(64, len(MOVES)))


@torch.no_grad()
def soft_update(online, slow):
    for p, q in zip(online.parameters(), slow.parameters()):
        q.mul_(1 - TAU).add_(TAU * p)


def learn(net, slow, opt, memory):
    s, a, r, s2, d = zip(*random.sample(memory, 64))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float)
    with torch.no_grad():
        goal = r + GAMMA * (1 - d) * slow(s2).max(1).values
    q = net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = nn.functional.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    soft_update(net, slow)
    return loss.item()


@torch.no_grad()
def greedy_success(net):
    free = [(i, j) for i in range(SIDE) for j in range(SIDE) if (i, j) not in WALLS | {GOAL}]
    wins = 0
    for cell in free:
        for _ in range(LIMIT):
            cell, _, done = move(cell, net(observe(cell)).argmax().item())
            if done:
                wins += 1
                break
    return wins / len(free)


net = make_net()
slow = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
memory = deque(maxlen=10000)
eps = 1.0
loss = 0.0
for episode in range(1, 301):
    cell = random.choice([(i, j) for i in range(SIDE) for j in range(SIDE)
                          if (i, j) not in WALLS | {GOAL}])
    for t in range(LIMIT):
        s = observe(cell)
        a = random.randrange(4) if random.random() < eps else net(s).argmax().item()
        cell, r, done = move(cell, a)
        memory.append((s, a, r, observe(cell), done))
        if len(memory) >= 500:
            loss = learn(net, slow, opt, memory)
        if done:
            break
    eps = max(0.1, eps * 0.99)
    if episode % 50 == 0:
        print(f"episode {episode} eps {eps:.2f} td-loss {loss:.5f} greedy success {greedy_success(net):.2f}")
