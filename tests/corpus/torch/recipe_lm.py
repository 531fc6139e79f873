# char level language model on little cooking instructions, mini GPT style
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
random.seed(1337)

verbs = ["chop", "boil", "roast", "grate", "slice", "whisk", "fry", "steam"]
foods = ["onions", "carrots", "potatoes", "eggs", "cheese", "tomatoes", "rice", "mushrooms"]
adverbs = ["slowly", "quickly", "gently", "twice", "well"]
places = ["in a pan", "in the oven", "with butter", "over low heat", "under the grill"]


def sentence():
    s = f"{random.choice(verbs)} the {random.choice(foods)} {random.choice(adverbs)}"
    if random.random() < 0.6:
        s += " " + random.choice(places)
    return s + ". "


text = "".join(sentence() for _ in range(3000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
ids = torch.tensor([stoi[c] for c in text])
split = int(0.9 * len(ids))
train_ids, val_ids = ids[:split], ids[split:]

block_size = 32
batch_size = 32
n_embd = 64


def get_batch(source):
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i : i + block_size] for i in ix])
    y = torch.stack([source[i + 1 : i + block_size + 1] for i in ix])
    return x, y


class CharLM(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, n_embd)
        self.pos = nn.Embedding(block_size, n_embd)
        layer = nn.TransformerEncoderLayer(n_embd, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(n_embd)
        self.out = nn.Linear(n_embd, vocab)

    def forward(self, idx):
        T = idx.shape[1]
        h = self.tok(idx) + self.pos(torch.arange(T))
        h = self.blocks(h)
        return self.out(self.ln(h))


@torch.no_grad()
def generate(model, prompt, n):
    idx = torch.tensor([[stoi[c] for c in prompt]])
    for _ in range(n):
        logits = model(idx[:, -block_size:])[:, -1]
        nxt = torch.multinomial(F.softmax(logits, dim=-1), 1)
        idx = torch.cat([idx, nxt], dim=1)
    return "".join(itos[i] for i in idx[0].tolist())


model = CharLM(len(chars))
optim = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 601):
    x, y = get_batch(train_ids)
    logits = model(x)
    loss = F.cross_entropy(logits.view(-1, len(chars)), y.view(-1))
    optim.zero_grad(set_to_none=True)
    loss.backward()
    optim.step()
    if step % 100 == 0:
        with torch.no_grad():
            xv, yv = get_batch(val_ids)
            vl = F.cross_entropy(model(xv).view(-1, len(chars)), yv.view(-1))
        print(f"step {step}: train {loss.item():.3f}  val {vl.item():.3f}")

sample = generate(model, "chop the ", 400)
print(sample)
known = set(text.replace(".", " ").split())
words = sample.replace(".", " ").split()
print("real words in the sample: %d of %d" % (sum(w in known for w in words), len(words)))
