"""Sentence embeddings for retrieval: a BERT encoder learns that two wordings tell the same event."""
import itertools
import random

import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

PEOPLE = "king queen pilot miner poet coach rider monk".split()
ACTS = {"buys": "purchases", "hides": "conceals", "fixes": "repairs", "finds": "discovers",
        "throws": "tosses", "cleans": "scrubs"}
THINGS = {"car": "automobile", "stone": "rock", "picture": "painting", "coat": "jacket",
          "letter": "note", "cup": "mug"}
TIMES = {"dawn": "early morning", "noon": "midday", "dusk": "evening"}
GLUE = "the a at was by around one in".split()


def wordings(person, act, thing, time):
    plain = f"the {person} {act} a {thing} at {time}"
    other = f"around {TIMES[time]} one {THINGS[thing]} the {person} {ACTS[act]}"
    return plain, other


class Vocabulary:
    def __init__(self):
        words = PEOPLE + GLUE
        for table in (ACTS, THINGS, TIMES):
            words += list(table) + [w for v in table.values() for w in v.split()]
        self.ids = {w: i + 1 for i, w in enumerate(dict.fromkeys(words))}

    def __len__(self):
        return len(self.ids) + 1

    def batch(self, texts):
        seqs = [[self.ids[w] for w in t.split()] for t in texts]
        width = max(map(len, seqs))
        ids = torch.tensor([s + [0] * (width - len(s)) for s in seqs])
        return ids, (ids > 0).long()


class Embedder(nn.Module):
    def __init__(self, vocab_size, out_dim=32):
        super().__init__()
        self.encoder = BertModel(BertConfig(
            vocab_size=vocab_size, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=128, max_position_embeddings=16), add_pooling_layer=False)
        self.project = nn.Linear(64, out_dim, bias=False)

    def forward(self, ids, mask):
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(self.project(mean), dim=-1)


def contrast(left, right, temperature=0.07):
    scores = left @ right.T / temperature
    target = torch.arange(len(scores))
    return F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)


@torch.no_grad()
def recall_at_one(model, vocab, events):
    model.eval()
    left, right = zip(*(wordings(*e) for e in events))
    scores = model(*vocab.batch(left)) @ model(*vocab.batch(right)).T
    model.train()
    return (scores.argmax(1) == torch.arange(len(events))).float().mean().item()


def main(steps=400, batch_size=32, seed=19):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    events = list(itertools.product(PEOPLE, ACTS, THINGS, TIMES))
    rng.shuffle(events)
    train, test = events[:-200], events[-200:]
    vocab = Vocabulary()
    model = Embedder(len(vocab))
    body = torch.optim.AdamW(model.encoder.parameters(), lr=5e-4)
    head = torch.optim.SGD(model.project.parameters(), lr=0.1, momentum=0.9)
    print(f"before: recall@1 {recall_at_one(model, vocab, test):.3f}")
    for step in range(1, steps + 1):
        left, right = zip(*(wordings(*e) for e in rng.sample(train, batch_size)))
        loss = contrast(model(*vocab.batch(left)), model(*vocab.batch(right)))
        body.zero_grad()
        head.zero_grad()
        loss.backward()
        body.step()
        head.step()
        if step % 50 == 0:
            print(f"step {step}  loss {loss.item():.3f}  recall@1 {recall_at_one(model, vocab, test):.3f}")


if __name__ == "__main__":
    main()
