"""Does a DNA window contain two motifs in the right order? Fixed windows of 40 bases."""
import random
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

random.seed(9)
torch.manual_seed(9)
BASE = {"A": 0, "C": 1, "G": 2, "T": 3}
M1, M2 = "TATAAT", "GGCCGG"
WINDOW = 40


def window():
    seq = random.choices("ACGT", k=WINDOW)
    y = random.randint(0, 1)
    first, second = (M1, M2) if y else (M2, M1)
    p = random.randint(0, 13)
    q = random.randint(20, 33)
    seq[p:p + 6], seq[q:q + 6] = list(first), list(second)
    return [BASE[b] for b in seq], y


data = [window() for _ in range(2600)]
ids = torch.tensor([s for s, _ in data])
labels = torch.tensor([y for _, y in data])
tr_x, tr_y, te_x, te_y = ids[:2200], labels[:2200], ids[2200:], labels[2200:]

cfg = BertConfig(vocab_size=4, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                 intermediate_size=128, max_position_embeddings=WINDOW, num_labels=2, pad_token_id=None,
                 hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
net = BertForSequenceClassification(cfg)
net.bert.embeddings.word_embeddings.weight.data = nn.init.orthogonal_(torch.empty(4, 64))
net.bert.embeddings.word_embeddings.weight.requires_grad = False

params = [p for p in net.parameters() if p.requires_grad]
EPOCHS, BS = 10, 32
opt = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01)
steps = EPOCHS * ((len(tr_y) + BS - 1) // BS)
sched = get_linear_schedule_with_warmup(opt, steps // 10, steps)

net.train()
for epoch in range(EPOCHS):
    losses = []
    for rows in torch.randperm(len(tr_y)).split(BS):
        loss = net(input_ids=tr_x[rows], labels=tr_y[rows]).loss
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        sched.step()
        net.zero_grad()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} lr {sched.get_last_lr()[0]:.2e}")

net.eval()
with torch.inference_mode():
    out = net(input_ids=te_x).logits
print("test accuracy", round((out.argmax(-1) == te_y).float().mean().item(), 4),
      "share of ones", round(te_y.float().mean().item(), 3))
