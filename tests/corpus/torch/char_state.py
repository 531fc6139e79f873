import math
import random

import numpy as np
import torch
from torch import nn

random.seed(1)
torch.manual_seed(1)

who = ["the old farmer", "a young sailor", "my neighbour", "the quiet teacher", "her brother", "the tall baker"]
does = ["counts", "paints", "carries", "sells", "watches", "repairs"]
what = ["seven white sheep", "a broken clock", "the wooden boats", "three warm loaves", "some heavy boxes", "the garden gate"]
where = ["near the river", "behind the church", "on the hill", "before breakfast", "every sunday", "in the rain"]
text = " ".join(
    f"{random.choice(who)} {random.choice(does)} {random.choice(what)} {random.choice(where)}."
    for _ in range(1800)
)

chars = tuple(sorted(set(text)))
int2char = dict(enumerate(chars))
char2int = {ch: ii for ii, ch in int2char.items()}
encoded = np.array([char2int[ch] for ch in text])


def one_hot_encode(arr, n_labels):
    one_hot = np.zeros((arr.size, n_labels), dtype=np.float32)
    one_hot[np.arange(arr.size), arr.flatten()] = 1.0
    return one_hot.reshape((*arr.shape, n_labels))


def get_batches(arr, batch_size, seq_length):
    n_batches = (len(arr) - 1) // (batch_size * seq_length)
    xs = arr[: n_batches * batch_size * seq_length].reshape(batch_size, -1)
    ys = arr[1 : n_batches * batch_size * seq_length + 1].reshape(batch_size, -1)
    for n in range(0, xs.shape[1], seq_length):
        yield xs[:, n : n + seq_length], ys[:, n : n + seq_length]


class CharRNN(nn.Module):
    def __init__(self, tokens, n_hidden=128, n_layers=2, drop_prob=0.2):
        super().__init__()
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.lstm = nn.LSTM(len(tokens), n_hidden, n_layers, dropout=drop_prob, batch_first=True)
        self.dropout = nn.Dropout(drop_prob)
        self.fc = nn.Linear(n_hidden, len(tokens))

    def forward(self, x, hidden):
        r_output, hidden = self.lstm(x, hidden)
        out = self.dropout(r_output).reshape(-1, self.n_hidden)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        return (torch.zeros(self.n_layers, batch_size, self.n_hidden),
                torch.zeros(self.n_layers, batch_size, self.n_hidden))


def train(net, data, epochs=6, batch_size=16, seq_length=50, lr=0.003, clip=5):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    val_idx = int(len(data) * 0.9)
    data, val_data = data[:val_idx], data[val_idx:]
    n_chars = len(chars)

    for e in range(epochs):
        net.train()
        h = net.init_hidden(batch_size)
        for x, y in get_batches(data, batch_size, seq_length):
            inputs = torch.from_numpy(one_hot_encode(x, n_chars))
            targets = torch.from_numpy(y)
            net.zero_grad()
            output, h = net(inputs, h)
            loss = criterion(output, targets.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), clip)
            opt.step()

        net.eval()
        val_h = net.init_hidden(batch_size)
        val_losses = []
        with torch.no_grad():
            for x, y in get_batches(val_data, batch_size, seq_length):
                inputs, targets = torch.from_numpy(one_hot_encode(x, n_chars)), torch.from_numpy(y)
                output, val_h = net(inputs, val_h)
                val_losses.append(criterion(output, targets.reshape(-1)).item())
        print(f"Epoch: {e + 1}/{epochs}... Loss: {loss.item():.4f}... Val Loss: {np.mean(val_losses):.4f}")


net = CharRNN(chars)
print(net)
print("uniform guess:", round(math.log(len(chars)), 3))
train(net, encoded)
