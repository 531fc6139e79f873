import random
from dataclasses import dataclass
import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

set_seed(10)
N_SCENTS, VOCAB = 24, 90
keys = [random.sample(range(10, VOCAB), 5) for _ in range(N_SCENTS)]


def describe(k):
    ids = random.sample(keys[k], 3) + [random.randrange(3, 10) for _ in range(random.randint(1, 6))]
    random.shuffle(ids)
    return [1] + ids + [2]


train_pairs = [(describe(k), describe(k)) for k in (random.randrange(N_SCENTS) for _ in range(1500))]
eval_pairs = [(describe(k), describe(k)) for k in range(N_SCENTS)]
train_pairs = [{"anchor": a, "positive": b} for a, b in train_pairs]


@dataclass
class PairCollator:
    pad_id: int = 0

    def pad(self, rows):
        width = max(map(len, rows))
        ids = torch.tensor([r + [self.pad_id] * (width - len(r)) for r in rows])
        return ids, (ids != self.pad_id).long()

    def __call__(self, features):
        a, am = self.pad([f["anchor"] for f in features])
        b, bm = self.pad([f["positive"] for f in features])
        return {"anchor_ids": a, "anchor_mask": am, "positive_ids": b, "positive_mask": bm}


class DualEncoder(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.encoder = BertModel(BertConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                                            intermediate_size=96, max_position_embeddings=32), add_pooling_layer=False)
        self.temperature = temperature

    def embed(self, ids, mask):
        h = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        m = mask.unsqueeze(-1).float()
        return F.normalize((h * m).sum(1) / m.sum(1), dim=-1)

    def forward(self, anchor_ids, anchor_mask, positive_ids, positive_mask):
        sim = self.embed(anchor_ids, anchor_mask) @ self.embed(positive_ids, positive_mask).T / self.temperature
        target = torch.arange(sim.size(0), device=sim.device)
        return {"loss": (F.cross_entropy(sim, target) + F.cross_entropy(sim.T, target)) / 2}


model = DualEncoder()
args = TrainingArguments("perfume", num_train_epochs=8, per_device_train_batch_size=16, learning_rate=1e-3,
                         warmup_ratio=0.1, logging_steps=94, save_strategy="no", report_to="none",
                         remove_unused_columns=False, dataloader_drop_last=True, seed=10)
Trainer(model=model, args=args, train_dataset=train_pairs, data_collator=PairCollator()).train()

model.eval()
pad = PairCollator().pad
with torch.no_grad():
    left = model.embed(*pad([a for a, _ in eval_pairs]))
    right = model.embed(*pad([b for _, b in eval_pairs]))
hits = ((left @ right.T).argmax(1) == torch.arange(N_SCENTS)).float().mean()
print(f"retrieval@1 {hits:.3f} (chance {1 / N_SCENTS:.3f})")
