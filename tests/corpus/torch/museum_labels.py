import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
N_OBJECTS, VOCAB, CAPTION, FEATS = 1200, 80, 6, 32
CONCEPTS = 20
prototypes = torch.randn(CONCEPTS, FEATS)


def make_pairs(n):
    picks = torch.stack([torch.randperm(CONCEPTS)[:3] for _ in range(n)])
    objects = prototypes[picks].sum(1) + 0.3 * torch.randn(n, FEATS)
    spelled = torch.cat([picks * 4 + torch.randint(0, 4, picks.shape), picks * 4 + torch.randint(0, 4, picks.shape)], 1)
    order = torch.argsort(torch.rand(n, CAPTION), dim=1)
    return objects, spelled.gather(1, order)


class Towers(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.photo = nn.Sequential(nn.Linear(FEATS, 96), nn.GELU(), nn.Linear(96, dim))
        self.words = nn.EmbeddingBag(VOCAB, 96, mode="mean")
        self.text = nn.Sequential(nn.GELU(), nn.Linear(96, dim))
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, objects, captions):
        a = F.normalize(self.photo(objects), dim=-1)
        b = F.normalize(self.text(self.words(captions)), dim=-1)
        return self.log_scale.exp().clamp(max=100) * a @ b.t()


objects, captions = make_pairs(N_OBJECTS)
test_objects, test_captions = make_pairs(200)
model = Towers()
ema = copy.deepcopy(model).requires_grad_(False).eval()
optimizer = torch.optim.AdamW([
    {"params": [p for n, p in model.named_parameters() if n != "log_scale"], "weight_decay": 0.01},
    {"params": [model.log_scale], "weight_decay": 0.0},
], lr=3e-3)


@torch.no_grad()
def recall_at_1(net):
    logits = net(test_objects, test_captions)
    gold = torch.arange(len(logits))
    return (logits.argmax(1) == gold).float().mean().item(), (logits.argmax(0) == gold).float().mean().item()


for epoch in range(30):
    model.train()
    perm = torch.randperm(N_OBJECTS)
    total = 0.0
    for idx in perm.split(100):
        logits = model(objects[idx], captions[idx])
        gold = torch.arange(len(idx))
        loss = F.cross_entropy(logits, gold) + F.cross_entropy(logits.t(), gold)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.lerp_(p, 0.05)
        total += loss.item()
    if (epoch + 1) % 5 == 0:
        model.eval()
        print(f"epoch {epoch + 1}: loss {total / 12:.3f} R@1 model {recall_at_1(model)} ema {recall_at_1(ema)}")
