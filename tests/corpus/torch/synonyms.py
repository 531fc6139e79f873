# two-tower word-gloss matching with in-batch negatives
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

set_seed(5)
rng = random.Random(5)

CONCEPTS, FORMS, LENGTH, VOCAB = 60, 6, 6, 500
signs = rng.sample(range(4, VOCAB), CONCEPTS * FORMS)
forms = {c: signs[c * FORMS:(c + 1) * FORMS] for c in range(CONCEPTS)}
noise_words = [w for w in range(4, VOCAB) if w not in set(signs)]


def phrase(c):
    ids = rng.sample(forms[c], 2) + rng.choices(noise_words, k=LENGTH - 2)
    rng.shuffle(ids)
    return ids


def pairs(n):
    cs = [rng.randrange(CONCEPTS) for _ in range(n)]
    return Dataset.from_dict({"left_ids": [phrase(c) for c in cs], "right_ids": [phrase(c) for c in cs]})


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                                         intermediate_size=128, max_position_embeddings=16), add_pooling_layer=False)
        self.project = nn.Linear(64, 32)

    def forward(self, input_ids):
        return F.normalize(self.project(self.bert(input_ids).last_hidden_state.mean(1)), dim=-1)


class PairTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        a = model(inputs["left_ids"])
        b = model(inputs["right_ids"])
        scores = a @ b.T / 0.1
        target = torch.arange(len(a), device=a.device)
        loss = (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)) / 2
        return (loss, {"a": a, "b": b}) if return_outputs else loss


args = TrainingArguments(
    output_dir="synonyms",
    num_train_epochs=10,
    per_device_train_batch_size=32,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    weight_decay=0.01,
    logging_steps=40,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
model = Encoder()
trainer = PairTrainer(model=model, args=args, train_dataset=pairs(1600))
trainer.train()

model.eval()
left = torch.tensor([phrase(c) for c in range(CONCEPTS)])
right = torch.tensor([phrase(c) for c in range(CONCEPTS)])
with torch.no_grad():
    best = (model(left) @ model(right).T).argmax(1).numpy()
print("recall@1 over", CONCEPTS, "concepts:", float((best == np.arange(CONCEPTS)).mean()))
