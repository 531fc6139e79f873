from dataclasses import dataclass
import random

import numpy as np
import torch
from torch import nn
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DataCollatorWithPadding, GPT2Config, GPT2Model, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)


@dataclass
class Config:
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    lr: float = 1e-3
    epochs: int = 6
    batch: int = 32
    seed: int = 8


TOPICS = {
    "delivery": ["parcel", "courier", "late", "doorstep", "tracking"],
    "billing": ["charged", "refund", "invoice", "card", "twice"],
    "quality": ["broken", "scratched", "cheap", "loose", "faded"],
    "service": ["rude", "agent", "phone", "waiting", "callback"],
}
NOISE = "i am very sorry but my order was again not what you promised and this is the third time".split()


def complaint(rng):
    topic = rng.randrange(len(TOPICS))
    words = rng.choices(NOISE, k=rng.randint(5, 12))
    for w in rng.sample(list(TOPICS.values())[topic], 2):
        words.insert(rng.randrange(len(words) + 1), w)
    return {"text": " ".join(words), "labels": topic}


def make_tokenizer():
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(set(NOISE) | {w for ws in TOPICS.values() for w in ws})
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]",
                                                        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]")


class ComplaintClassifier(nn.Module):
    def __init__(self, cfg, vocab_size, n_classes):
        super().__init__()
        self.backbone = GPT2Model(GPT2Config(vocab_size=vocab_size, n_positions=64, n_embd=cfg.hidden,
                                             n_layer=cfg.layers, n_head=cfg.heads))
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(cfg.hidden, n_classes)

    def forward(self, input_ids, attention_mask=None, labels=None):
        hidden = self.backbone(input_ids, attention_mask=attention_mask).last_hidden_state
        pooled = hidden[:, 0]
        logits = self.head(self.dropout(pooled))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def metrics(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}


if __name__ == "__main__":
    cfg = Config()
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    tokenizer = make_tokenizer()
    data = Dataset.from_list([complaint(rng) for _ in range(1200)])
    data = data.map(lambda r: tokenizer(r["text"]), remove_columns=["text"]).train_test_split(200, seed=cfg.seed)
    model = ComplaintClassifier(cfg, len(tokenizer), len(TOPICS))
    args = TrainingArguments("complaints_out", learning_rate=cfg.lr, num_train_epochs=cfg.epochs,
                             per_device_train_batch_size=cfg.batch, eval_strategy="epoch", save_strategy="no",
                             logging_steps=25, report_to="none", seed=cfg.seed)
    trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                      data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics)
    trainer.train()
    print(trainer.evaluate())
