"""Route short customer messages to a desk. Small loop with callbacks."""
import random
import torch
from torch import nn
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)
DESKS = ["billing", "tech", "shipping", "sales"]
KEYWORDS = {
    "billing": "charged invoice card payment twice refund fee".split(),
    "tech": "crash error screen app frozen bug update".split(),
    "shipping": "parcel courier late tracking address lost box".split(),
    "sales": "quote discount demo pricing bulk offer licence".split(),
}
COMMON = "hello i my the is was please help with for thanks and you it today".split()
WORDS = ["<pad>"] + COMMON + [w for k in DESKS for w in KEYWORDS[k]]
INDEX = {w: i for i, w in enumerate(WORDS)}


def write_message():
    desk = random.randrange(len(DESKS))
    words = random.sample(KEYWORDS[DESKS[desk]], 2) + random.choices(COMMON, k=random.randint(3, 9))
    if random.random() < 0.3:
        words.append(random.choice(KEYWORDS[random.choice(DESKS)]))
    random.shuffle(words)
    return {"text": " ".join(words), "desk": desk}


def collate(rows):
    seqs = [torch.tensor([INDEX[w] for w in r["text"].split()]) for r in rows]
    ids = nn.utils.rnn.pad_sequence(seqs, batch_first=True)
    return {
        "input_ids": ids,
        "attention_mask": (ids != 0).long(),
        "labels": torch.tensor([r["desk"] for r in rows]),
    }


class Router(nn.Module):
    def __init__(self, dim=32, l2=1e-3):
        super().__init__()
        self.l2 = l2
        self.emb = nn.Embedding(len(WORDS), dim, padding_idx=0)
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, len(DESKS))

    def forward(self, input_ids, attention_mask=None, labels=None, **kwargs):
        h, _ = self.gru(self.emb(input_ids))
        if attention_mask is not None:
            h = h.masked_fill(attention_mask.unsqueeze(-1) == 0, -1e4)
        logits = self.out(h.max(dim=1).values)
        loss = self.l2 * self.emb.weight.pow(2).mean()
        if labels is not None:
            loss = loss + nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Callback:
    def on_batch_end(self, loop, loss): ...
    def on_epoch_end(self, loop): ...


class Progress(Callback):
    def __init__(self):
        self.seen = []

    def on_batch_end(self, loop, loss):
        self.seen.append(loss)

    def on_epoch_end(self, loop):
        print(f"epoch {loop.epoch} loss {sum(self.seen) / len(self.seen):.6f}")
        self.seen.clear()


class Validate(Callback):
    def __init__(self, rows):
        self.rows, self.accuracy = rows, None

    def on_epoch_end(self, loop):
        batch = collate(self.rows)
        gold = torch.tensor([r["desk"] for r in self.rows])
        loop.model.eval()
        with torch.no_grad():
            logits = loop.model(batch["input_ids"], batch["attention_mask"])["logits"]
        self.accuracy = (logits.argmax(-1) == gold).float().mean().item()
        print(f"   accuracy {self.accuracy:.3f}")


class Loop:
    def __init__(self, model, callbacks, lr=2e-3):
        self.model, self.callbacks, self.epoch = model, callbacks, 0
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def run(self, loader, epochs):
        for self.epoch in range(epochs):
            self.model.train()
            for batch in loader:
                out = self.model(**batch)
                self.opt.zero_grad()
                out["loss"].backward()
                self.opt.step()
                for cb in self.callbacks:
                    cb.on_batch_end(self, out["loss"].item())
            for cb in self.callbacks:
                cb.on_epoch_end(self)


messages = [write_message() for _ in range(1500)]
check = Validate(messages[1200:])
Loop(Router(), [Progress(), check]).run(
    DataLoader(messages[:1200], batch_size=32, shuffle=True, collate_fn=collate), epochs=6)
print(f"final accuracy {check.accuracy:.3f} (chance 0.25)")
