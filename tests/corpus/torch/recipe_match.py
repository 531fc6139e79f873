import math
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

set_seed(19)
gen = np.random.default_rng(19)
N_ITEMS, LEN_Q, LEN_D = 120, 5, 10
QUERY_OFFSET = 1 + N_ITEMS


def pair():
    items = gen.choice(N_ITEMS, 6, replace=False)
    query = QUERY_OFFSET + gen.choice(items, LEN_Q, replace=False)
    noise = gen.integers(0, N_ITEMS, LEN_D - 6)
    doc = 1 + gen.permutation(np.concatenate([items, noise]))
    return {"query": query.tolist(), "document": doc.tolist()}


class TwoSides(nn.Module):
    def __init__(self, config, scale=20.0):
        super().__init__()
        self.encoder = BertModel(config, add_pooling_layer=False)
        self.scale = scale

    def embed(self, ids):
        return F.normalize(self.encoder(input_ids=ids).last_hidden_state.mean(1), dim=-1)

    def forward(self, query, document):
        q, d = self.embed(query), self.embed(document)
        scores = self.scale * q @ d.T
        target = torch.arange(len(q), device=q.device)
        loss = 0.5 * (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target))
        return {"loss": loss, "q": q, "d": d}


def collate(rows):
    return {k: torch.tensor([r[k] for r in rows]) for k in ("query", "document")}


def recall_at(model, rows, ks=(1, 5)):
    model.eval()
    with torch.no_grad():
        out = model(**collate(rows))
    ranks = (out["q"] @ out["d"].T).argsort(dim=1, descending=True)
    own = torch.arange(len(rows)).unsqueeze(1)
    return [(ranks[:, :k] == own).any(1).float().mean().item() for k in ks]


config = BertConfig(vocab_size=QUERY_OFFSET + N_ITEMS, hidden_size=64, num_hidden_layers=1,
                    num_attention_heads=4, intermediate_size=128, max_position_embeddings=16,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = TwoSides(config)
train = [pair() for _ in range(6000)]
test = [pair() for _ in range(200)]
args = TrainingArguments(output_dir="out/recipes", num_train_epochs=8, learning_rate=2e-3,
                         per_device_train_batch_size=64, dataloader_drop_last=True, warmup_ratio=0.1,
                         logging_steps=100, save_strategy="no", report_to="none", use_cpu=True,
                         remove_unused_columns=False, disable_tqdm=True)
first = recall_at(model, test)
trainer = Trainer(model=model, args=args, train_dataset=train, data_collator=collate)
result = trainer.train()
last = recall_at(model, test)
print(f"ln(batch) {math.log(64):.3f}, mean training loss {result.training_loss:.3f}")
print("recall@1 %.3f -> %.3f   recall@5 %.3f -> %.3f  (200 candidates)" % (first[0], last[0], first[1], last[1]))
