"""Multi-label habitat tags for short species notes: DistilBERT body, own head, Hugging Face Trainer."""
from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertModel, EvalPrediction,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

HABITATS: dict[str, list[str]] = {
    "forest": ["oak", "canopy", "bark", "understorey", "beech"],
    "wetland": ["reed", "marsh", "bog", "sedge", "peat"],
    "coast": ["dune", "cliff", "shingle", "saltmarsh", "tide"],
    "alpine": ["scree", "ridge", "snowbed", "boulder", "moraine"],
    "urban": ["wall", "rooftop", "pavement", "park", "garden"],
}
COMMON = "found often near the old with small pale flower leaf seen in early late summer rarely nests on a by".split()


@dataclass
class Settings:
    rows: int = 1500
    hidden: int = 64
    epochs: int = 6
    lr: float = 1e-3
    batch_size: int = 32
    seed: int = 17
    labels: list[str] = field(default_factory=lambda: list(HABITATS))


def write_note(rng: random.Random, labels: list[str]) -> tuple[str, list[float]]:
    chosen = rng.sample(labels, rng.choice([1, 1, 2, 3]))
    words = rng.choices(COMMON, k=rng.randint(6, 14))
    for c in chosen:
        words += rng.sample(HABITATS[c], 2)
    rng.shuffle(words)
    return " ".join(words), [float(l in chosen) for l in labels]


def build_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


class HabitatTagger(nn.Module):
    """Masked mean pooling over the encoder, then one score for each habitat."""

    def __init__(self, config: DistilBertConfig, n_labels: int) -> None:
        super().__init__()
        self.encoder = DistilBertModel(config)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(config.dim, n_labels)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor | None = None):
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        pooled = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        scores = torch.sigmoid(self.head(self.drop(pooled)))
        return {"logits": scores}


class TaggingTrainer(Trainer):
    def __init__(self, *args, pos_weight: torch.Tensor | None = None, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)

    def compute_loss(self, model, inputs, return_outputs: bool = False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = self.criterion(outputs["logits"], labels.float())
        return (loss, {"loss": loss, **outputs}) if return_outputs else loss


def compute_metrics(pred: EvalPrediction) -> dict[str, float]:
    probs = 1.0 / (1.0 + np.exp(-pred.predictions))
    hard = (probs > 0.5).astype(int)
    truth = pred.label_ids.astype(int)
    return {
        "micro_f1": f1_score(truth, hard, average="micro", zero_division=0),
        "macro_f1": f1_score(truth, hard, average="macro", zero_division=0),
        "subset_accuracy": float((hard == truth).all(axis=1).mean()),
    }


def main() -> None:
    cfg = Settings()
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    notes, targets = zip(*[write_note(rng, cfg.labels) for _ in range(cfg.rows)])
    tokenizer = build_tokenizer(list(notes))
    ds = Dataset.from_dict({"note": list(notes), "labels": list(targets)})
    ds = ds.map(lambda b: tokenizer(b["note"], return_token_type_ids=False), batched=True, remove_columns=["note"])
    split = ds.train_test_split(test_size=300, seed=cfg.seed)

    config = DistilBertConfig(vocab_size=len(tokenizer), dim=cfg.hidden, n_layers=2, n_heads=4, hidden_dim=128,
                              max_position_embeddings=64)
    model = HabitatTagger(config, len(cfg.labels))
    args = TrainingArguments(
        output_dir="out", num_train_epochs=cfg.epochs, per_device_train_batch_size=cfg.batch_size,
        per_device_eval_batch_size=100, learning_rate=cfg.lr, warmup_ratio=0.1, logging_steps=30,
        eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, seed=cfg.seed,
    )
    trainer = TaggingTrainer(
        model=model, args=args, train_dataset=split["train"], eval_dataset=split["test"],
        data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
