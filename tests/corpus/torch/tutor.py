# Distil a BERT into a one-layer student. Body and head of the student have an optimizer each.
import random
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(2); random.seed(2)
V, L, CLASSES = 60, 16, 5
T, ALPHA = 4.0, 0.9


def draw(n):
    # each class has its favourite words; the first two words may flip the class
    x = torch.randint(10, V, (n, L))
    y = torch.randint(0, CLASSES, (n,))
    for i in range(n):
        for j in random.sample(range(1, L), 4):
            x[i, j] = 10 + 10 * y[i] + random.randrange(10)
    flip = torch.rand(n) < 0.3
    x[:, 0] = torch.where(flip, 1, 2)
    y = torch.where(flip, (y + 1) % CLASSES, y)
    return x, y


def bert(d, layers, drop):
    return BertForSequenceClassification(BertConfig(
        vocab_size=V, hidden_size=d, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=2 * d,
        max_position_embeddings=L, num_labels=CLASSES, hidden_dropout_prob=drop, attention_probs_dropout_prob=drop))


def score(m, x, y):
    m.eval()
    with torch.inference_mode():
        p = m(input_ids=x).logits.argmax(-1)
    return (p == y).float().mean().item()


xl, yl = draw(3000)
xt, yt = draw(800)
xu, _ = draw(5000)          # rows whose labels are thrown away

teacher = bert(64, 2, 0.1)
opt = torch.optim.AdamW(teacher.parameters(), lr=1e-3)
for ep in range(6):
    teacher.train()
    run = 0.
    for x, y in DataLoader(TensorDataset(xl, yl), 32, shuffle=True):
        loss = teacher(input_ids=x, labels=y).loss
        opt.zero_grad(set_to_none=True); loss.backward(); opt.step()
        run += loss.item()
    print(f"teacher {ep}: loss {run / (len(xl) // 32 + 1):.3f} test {score(teacher, xt, yt):.3f}")

teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)

with torch.no_grad():
    soft = torch.cat([teacher(input_ids=b).logits for b in xu.split(500)])
few = torch.randperm(len(xl))[:200]

student = bert(32, 1, 0.0)
body = torch.optim.AdamW(student.bert.parameters(), lr=2e-3)
head = torch.optim.SGD(student.classifier.parameters(), lr=0.2)
print(f"student has {sum(p.numel() for p in student.parameters()):,} weights, "
      f"teacher {sum(p.numel() for p in teacher.parameters()):,}; untrained student {score(student, xt, yt):.3f}")

for ep in range(8):
    student.train()
    log = []
    for x, z in DataLoader(TensorDataset(xu, soft), 50, shuffle=True):
        pick = few[torch.randint(0, len(few), (10,))]
        out = student(input_ids=torch.cat([x, xl[pick]])).logits
        kd = F.kl_div(F.log_softmax(out[:len(x)] / T, -1), F.softmax(z / T, -1), reduction="batchmean") * T * T
        ce = F.cross_entropy(out[len(x):], yl[pick])
        loss = ALPHA * kd + (1 - ALPHA) * ce
        for o in (body, head):
            o.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 2.0)
        for o in (body, head):
            o.step()
        log.append([kd.item(), ce.item()])
    kd, ce = np.mean(log, 0)
    print(f"student {ep}: kd {kd:.3f} ce {ce:.3f} test {score(student, xt, yt):.3f}")
