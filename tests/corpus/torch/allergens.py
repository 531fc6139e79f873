"""Multi-label allergen tagging of menu lines with a small ELECTRA trained from scratch."""
import random
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.utils.data import Dataset
from transformers import (ElectraConfig, ElectraForSequenceClassification, PreTrainedTokenizerFast, Trainer,
                          TrainerCallback, TrainingArguments, set_seed)

ALLERGENS = ["gluten", "milk", "egg", "nuts", "fish", "soy"]
CONTAINS = {
    "noodles": "gluten", "bread": "gluten", "crumble": "gluten", "couscous": "gluten", "dumplings": "gluten",
    "cream": "milk", "feta": "milk", "butter": "milk", "yoghurt": "milk", "mozzarella": "milk",
    "mayonnaise": "egg", "omelette": "egg", "meringue": "egg", "aioli": "egg", "custard": "egg milk",
    "almonds": "nuts", "pesto": "nuts milk", "praline": "nuts", "walnuts": "nuts", "satay": "nuts",
    "anchovies": "fish", "salmon": "fish", "worcester": "fish", "cod": "fish", "bouillabaisse": "fish",
    "tofu": "soy", "miso": "soy", "edamame": "soy", "tempeh": "soy", "tamari": "soy",
    "tempura": "gluten egg", "quiche": "egg milk gluten", "ramen": "gluten soy egg", "baklava": "nuts gluten",
}
PLAIN = ("grilled roasted fresh warm spicy house chef slow garden smoked carrots lentils tomato rice potato basil "
         "lemon chilli pumpkin aubergine with and on served beside peppers garlic").split()


@dataclass
class Config:
    n_train: int = 1200
    n_test: int = 400
    max_len: int = 14
    hidden: int = 64
    layers: int = 2
    word_dropout: float = 0.2
    batch_size: int = 32
    epochs: int = 30
    lr: float = 1e-3
    seed: int = 3


def menu_line(rng):
    items = rng.sample(list(CONTAINS), rng.randint(1, 3))
    words = items + rng.choices(PLAIN, k=rng.randint(4, 9))
    rng.shuffle(words)
    tags = {t for item in items for t in CONTAINS[item].split()}
    return " ".join(words), [float(a in tags) for a in ALLERGENS]


def build_tokenizer():
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(CONTAINS) + PLAIN)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]")


class MenuDataset(Dataset):
    """Tokenises once, up front; word dropout is drawn anew whenever a row is asked for."""

    def __init__(self, rows, tokenizer, cfg, augment=False):
        enc = tokenizer([t for t, _ in rows], padding="max_length", truncation=True, max_length=cfg.max_len,
                        return_tensors="pt")
        self.ids = enc["input_ids"]
        self.mask = enc["attention_mask"]
        self.labels = torch.tensor([y for _, y in rows])
        self.unk = tokenizer.unk_token_id
        self.special = torch.tensor(tokenizer.all_special_ids)
        self.rate = cfg.word_dropout if augment else 0.0

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        ids = self.ids[i]
        if self.rate:
            drop = (torch.rand(ids.shape) < self.rate) & ~torch.isin(ids, self.special)
            ids[drop] = self.unk
        return {"input_ids": ids, "attention_mask": self.mask[i], "labels": self.labels[i]}


class PrintEpoch(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        losses = [h["loss"] for h in state.log_history if "loss" in h]
        print(f"epoch {state.epoch:4.0f}  train {losses[-1]:.4f}  eval {metrics['eval_loss']:.4f}  "
              f"macro F1 {metrics['eval_macro_f1']:.3f}")


def compute_metrics(p):
    chosen = (p.predictions > 0).astype(int)
    truth = p.label_ids.astype(int)
    return {"macro_f1": f1_score(truth, chosen, average="macro", zero_division=0),
            "exact": float((chosen == truth).all(1).mean())}


def main():
    cfg = Config()
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    rows = [menu_line(rng) for _ in range(cfg.n_train + cfg.n_test)]
    tokenizer = build_tokenizer()
    train_ds = MenuDataset(rows[:cfg.n_train], tokenizer, cfg, augment=True)
    test_ds = MenuDataset(rows[cfg.n_train:], tokenizer, cfg)
    print("label frequency", dict(zip(ALLERGENS, np.round(train_ds.labels.mean(0).tolist(), 2))))

    model = ElectraForSequenceClassification(ElectraConfig(
        vocab_size=len(tokenizer), embedding_size=cfg.hidden, hidden_size=cfg.hidden,
        num_hidden_layers=cfg.layers, num_attention_heads=4, intermediate_size=2 * cfg.hidden,
        max_position_embeddings=cfg.max_len, num_labels=len(ALLERGENS),
        problem_type="multi_label_classification"))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            "out/allergens", num_train_epochs=cfg.epochs, learning_rate=cfg.lr, weight_decay=0.01,
            per_device_train_batch_size=cfg.batch_size, per_device_eval_batch_size=100, eval_strategy="epoch",
            logging_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True,
            seed=cfg.seed),
        train_dataset=train_ds, eval_dataset=test_ds, compute_metrics=compute_metrics, callbacks=[PrintEpoch()])
    trainer.train()
    print("final", {k: round(v, 4) for k, v in trainer.evaluate().items() if "f1" in k or "exact" in k})


if __name__ == "__main__":
    main()
