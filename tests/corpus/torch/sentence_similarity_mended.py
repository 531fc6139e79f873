"""Siamese sentence encoder scoring how alike two catalogue lines are (0 = nothing shared, 5 = same product)."""
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from scipy.stats import pearsonr
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

set_seed(11)
rng = random.Random(11)

SYNONYMS = {
    "item": [["sofa", "couch"], ["trousers", "pants"], ["mobile", "phone"], ["notebook", "laptop"], ["coat", "jacket"], ["mug", "cup"]],
    "colour": [["red", "crimson"], ["blue", "navy"], ["grey", "silver"], ["beige", "cream"], ["green", "olive"]],
    "material": [["leather", "hide"], ["cotton", "jersey"], ["metal", "steel"], ["oak", "wooden"], ["glass", "crystal"]],
    "maker": [["harlan", "harlan co"], ["vesta", "vesta ltd"], ["brio", "brio house"], ["kestrel", "kestrel works"]],
    "use": [["for children", "for kids"], ["for the office", "for work"], ["for travel", "for trips"], ["for the garden", "for outdoors"]],
}
SLOTS = list(SYNONYMS)


def describe(values):
    w = {s: rng.choice(SYNONYMS[s][v]) for s, v in values.items()}
    return rng.choice([
        f"{w['colour']} {w['material']} {w['item']} {w['use']} by {w['maker']}",
        f"{w['maker']} {w['item']} in {w['colour']} {w['material']} {w['use']}",
        f"new {w['item']} {w['use']} , {w['material']} , {w['colour']} , {w['maker']}",
    ])


def make_pair():
    first = {s: rng.randrange(len(SYNONYMS[s])) for s in SLOTS}
    same = rng.sample(SLOTS, rng.randint(0, 5))
    second = {s: v if s in same else rng.choice([k for k in range(len(SYNONYMS[s])) if k != v]) for s, v in first.items()}
    return {"left": describe(first), "right": describe(second), "score": float(len(same))}


train_ds = Dataset.from_list([make_pair() for _ in range(6000)])
eval_ds = Dataset.from_list([make_pair() for _ in range(500)])

words = Tokenizer(models.WordLevel(unk_token="[UNK]"))
words.normalizer = normalizers.Lowercase()
words.pre_tokenizer = pre_tokenizers.Whitespace()
words.train_from_iterator(list(train_ds["left"]) + list(train_ds["right"]), trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")


@dataclass
class PairCollator:
    tokenizer: Any

    def __call__(self, rows):
        batch = {"labels": torch.tensor([r["score"] for r in rows])}
        for side in ("left", "right"):
            enc = self.tokenizer([r[side] for r in rows], padding=True, return_tensors="pt")
            batch[f"{side}_ids"], batch[f"{side}_mask"] = enc["input_ids"], enc["attention_mask"]
        return batch


class SiameseScorer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = BertModel(config, add_pooling_layer=False)
        self.head = nn.Sequential(nn.Linear(2 * config.hidden_size, 64), nn.GELU(), nn.Linear(64, 1))

    def embed(self, ids, mask):
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        m = mask.unsqueeze(-1).float()
        return (hidden * m).sum(1) / m.sum(1)

    def forward(self, left_ids, left_mask, right_ids, right_mask, labels=None):
        u, v = self.embed(left_ids, left_mask), self.embed(right_ids, right_mask)
        return {"scores": self.head(torch.cat([(u - v).abs(), u * v], dim=-1))}


class RegressionTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(**inputs)
        scores = outputs["scores"].squeeze(-1)
        loss = torch.log(torch.cosh(scores - labels)).mean()
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    scores = np.asarray(pred.predictions).reshape(-1)
    gold = np.asarray(pred.label_ids).reshape(-1)
    return {
        "pearson": float(pearsonr(scores, gold)[0]),
        "rmse": float(np.sqrt(np.mean((scores - gold) ** 2))),
        "rmse_mean": float(np.sqrt(np.mean((gold - gold.mean()) ** 2))),
    }


model = SiameseScorer(BertConfig(
    vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=32, hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0, initializer_range=0.1))

args = TrainingArguments(
    output_dir="out/sentence_similarity",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=125,
    num_train_epochs=7,
    learning_rate=2e-3,
    warmup_ratio=0.05,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    logging_steps=100,
    save_strategy="no",
    remove_unused_columns=False,
    label_names=["labels"],
    report_to="none",
    disable_tqdm=True,
    seed=11,
)
trainer = RegressionTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                            data_collator=PairCollator(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items() if k in ("eval_pearson", "eval_rmse", "eval_rmse_mean")})
