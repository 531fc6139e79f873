# sentence embeddings with the batch-hard triplet loss
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Sampler, DataLoader
from transformers import BertConfig, BertModel

TOPICS = {
    "sea": "wave tide boat salt gull anchor reef sailor".split(),
    "cook": "pan oil onion bake stir salt oven spoon".split(),
    "space": "orbit moon comet rocket dust probe tide star".split(),
    "farm": "tractor barn cow hay onion dust fence seed".split(),
    "music": "violin chord drum tune star choir stir beat".split(),
    "law": "judge court trial fence beat appeal clerk oath".split(),
}
COMMON = "the a and of was to in it that on with for".split()
names = list(TOPICS)
words = sorted({w for ws in TOPICS.values() for w in ws} | set(COMMON))
stoi = {w: i + 1 for i, w in enumerate(words)}


def make(n, seed):
    r = random.Random(seed)
    out = []
    for k in range(n):
        label = k % len(names)
        ws = [r.choice(TOPICS[names[label]]) if r.random() < 0.35 else r.choice(COMMON)
              for _ in range(r.randint(8, 14))]
        out.append(([stoi[w] for w in ws], label))
    return out


class PKSampler(Sampler):
    """P topics, K sentences of each."""
    def __init__(self, labels, p, k, batches):
        self.by = {c: [i for i, y in enumerate(labels) if y == c] for c in set(labels)}
        self.p, self.k, self.batches = p, k, batches

    def __iter__(self):
        for _ in range(self.batches):
            yield [i for c in random.sample(list(self.by), self.p) for i in random.sample(self.by[c], self.k)]

    def __len__(self):
        return self.batches


def collate(rows):
    ids = nn.utils.rnn.pad_sequence([torch.tensor(r[0]) for r in rows], batch_first=True)
    return ids, torch.tensor([r[1] for r in rows])


class Embedder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        cfg = BertConfig(vocab_size=len(stoi) + 1, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=96, max_position_embeddings=16)
        self.bert = BertModel(cfg, add_pooling_layer=False)
        self.proj = nn.Linear(48, dim)

    def forward(self, ids):
        mask = (ids != 0).long()
        h = self.bert(ids, attention_mask=mask).last_hidden_state * mask.unsqueeze(-1)
        return self.proj(h.sum(1) / mask.sum(1, keepdim=True))


def distances(e):
    diff = e.unsqueeze(1) - e.unsqueeze(0)
    return torch.sqrt(diff.pow(2).sum(-1))


def batch_hard(e, y, margin=1.0):
    d = distances(e)
    same = y.unsqueeze(0) == y.unsqueeze(1)
    hardest_pos = (d * same.float()).max(1).values
    hardest_neg = (d + 1e3 * same.float()).min(1).values
    return torch.relu(hardest_pos - hardest_neg + margin).mean()


@torch.no_grad()
def one_nn(model, bank, queries):
    model.eval()
    xb, yb = collate(bank)
    xq, yq = collate(queries)
    eb, eq = model(xb).numpy(), model(xq).numpy()
    d = ((eq[:, None] - eb[None]) ** 2).sum(-1)
    return (yb.numpy()[d.argmin(1)] == yq.numpy()).mean()


random.seed(0); np.random.seed(0); torch.manual_seed(0)
train, test = make(1200, 1), make(300, 2)
loader = DataLoader(train, batch_sampler=PKSampler([y for _, y in train], 6, 6, 60), collate_fn=collate)
model = Embedder()
opt = torch.optim.Adam(model.parameters(), lr=5e-4)
print("1-NN before training: %.3f" % one_nn(model, train, test))
for epoch in range(6):
    model.train()
    losses = []
    for ids, y in loader:
        loss = batch_hard(model(ids), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}, 1-NN {one_nn(model, train, test):.3f}")
