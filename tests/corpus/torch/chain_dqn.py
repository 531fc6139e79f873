import copy
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Catch:
    """A ball falls through a 6x5 field; move the paddle under it. Reward +1 or -1 at the end."""

    def reset(self):
        self.row, self.col, self.paddle = 0, random.randrange(5), random.randrange(5)
        return self.view()

    def view(self):
        field = np.zeros((2, 6, 5), dtype=np.float32)
        field[0, self.row, self.col] = field[1, 5, self.paddle] = 1
        return field

    def step(self, a):
        self.row += 1
        self.paddle = min(4, max(0, self.paddle + a - 1))
        done = self.row == 5
        return self.view(), (1.0 if self.paddle == self.col else -1.0) if done else 0.0, done


env = Catch()
q_net = nn.Sequential(nn.Flatten(), nn.Linear(60, 64), nn.ReLU(), nn.Linear(64, 3))
target_net = copy.deepcopy(q_net).requires_grad_(False)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=5000)
gamma, batch_size, steps = 0.95, 32, 0
scores, losses = deque(maxlen=200), deque(maxlen=500)


def play(eps):
    state, done = env.reset(), False
    while not done:
        if random.random() < eps:
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = q_net(torch.from_numpy(state)[None]).argmax(1).item()
        nxt, reward, done = env.step(action)
        yield state, action, reward, nxt, done
        state = nxt


for episode in range(1, 1601):
    eps = max(0.05, 1 - episode / 800)
    for step in play(eps):
        memory.append(step)
        steps += 1
        if len(memory) < 500:
            continue
        s, a, r, s2, d = zip(*random.sample(memory, batch_size))
        s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
        a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        q = q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
        goal = r + gamma * (1 - d) * target_net(s2).max(1).values
        loss = nn.functional.smooth_l1_loss(q, goal)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(q_net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if steps % 250 == 0:
            target_net.load_state_dict(q_net.state_dict())
    scores.append(step[2])
    if episode % 200 == 0:
        print(f"episode {episode} eps {eps:.2f} td loss {np.mean(losses):.4f} mean score {np.mean(scores):+.2f}")

greedy = [list(play(0.0))[-1][2] for _ in range(200)]
print(f"greedy policy: caught {np.mean([g > 0 for g in greedy]):.2%}")
