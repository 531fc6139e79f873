"""Offline fitted Q on a corridor of ten cells; the goal is the right end."""
import copy
import random
from collections import deque

import torch
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)
CELLS, GAMMA = 10, 0.9
memory = deque(maxlen=5000)
state = 0
for _ in range(4000):
    action = random.randint(0, 1)
    nxt = min(CELLS - 1, max(0, state + (1 if action else -1)))
    done = nxt == CELLS - 1
    memory.append((state, action, 1.0 if done else 0.0, nxt, float(done)))
    state = random.randrange(CELLS - 1) if done or random.random() < 0.1 else nxt

q = torch.nn.Sequential(torch.nn.Linear(CELLS, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
eye = torch.eye(CELLS)

for update in range(800):
    batch = random.sample(memory, 64)
    s, a, r, n, d = map(torch.tensor, zip(*batch))
    with torch.no_grad():
        best = target(eye[n]).max(1).values
    wanted = r + GAMMA * (1 - d) * best
    chosen = q(eye[s]).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(chosen, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if update % 50 == 0:
        target.load_state_dict(q.state_dict())
    if update % 200 == 0:
        print(update, round(loss.item(), 5), q(eye).argmax(1).tolist())
print("values:", [round(v, 2) for v in q(eye).max(1).values.tolist()])
