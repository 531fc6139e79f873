"""Guess the maker of an engine from the serial number stamped on its plate."""
from __future__ import annotations

import random
import string
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer
from transformers import (
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    ElectraConfig,
    ElectraForSequenceClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

MAKERS = ["Halden", "Brook & Sons", "Vulcan", "Ostrava", "Nordwerk"]
PREFIXES = {
    "Halden": ["HD", "HA", "HX"],
    "Brook & Sons": ["BR", "BS", "KB"],
    "Vulcan": ["VU", "VL", "XV"],
    "Ostrava": ["OS", "SO", "OV"],
    "Nordwerk": ["NW", "WN", "NK"],
}
SUFFIX_LEN = {"Halden": 3, "Brook & Sons": 4, "Vulcan": 4, "Ostrava": 5, "Nordwerk": 5}


@dataclass(frozen=True)
class Plate:
    serial: str
    maker: str


def stamp(rng: random.Random) -> Plate:
    maker = rng.choice(MAKERS)
    digits = "".join(rng.choice(string.digits) for _ in range(SUFFIX_LEN[maker] + rng.choice([-1, 0, 1])))
    plant = "".join(rng.choice(string.ascii_uppercase) for _ in range(2))
    code = rng.choice(PREFIXES[maker])
    serial = f"{code}-{digits}/{plant}" if rng.random() < 0.5 else f"{plant}{digits}-{code}"
    return Plate(serial, maker)


def build_tokenizer(plates: list[Plate]) -> PreTrainedTokenizerFast:
    core = Tokenizer(WordLevel(unk_token="[UNK]"))
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    trainer = WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    core.train_from_iterator((p.serial for p in plates), trainer)
    core.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    core.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", core.token_to_id("[CLS]")), ("[SEP]", core.token_to_id("[SEP]"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


class PlateDataset(torch.utils.data.Dataset):
    def __init__(self, plates: list[Plate], tokenizer: PreTrainedTokenizerFast) -> None:
        self.encodings = tokenizer([p.serial for p in plates], truncation=True, max_length=24)
        self.labels = [MAKERS.index(p.maker) for p in plates]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, idx: int) -> dict:
        item = {k: v[idx] for k, v in self.encodings.items() if k != "token_type_ids"}
        item["labels"] = self.labels[idx]
        return item


class PlateClassifier:
    def __init__(self, workdir: Path, seed: int = 5) -> None:
        set_seed(seed)
        self.workdir = workdir
        self.rng = random.Random(seed)

    def prepare(self, n_train: int = 2400, n_eval: int = 400) -> None:
        train = [stamp(self.rng) for _ in range(n_train)]
        held_out = [stamp(self.rng) for _ in range(n_eval)]
        print("makers:", Counter(p.maker for p in train))
        self.tokenizer = build_tokenizer(train)
        self.train_set = PlateDataset(train, self.tokenizer)
        self.eval_set = PlateDataset(held_out, self.tokenizer)

    def build(self) -> ElectraForSequenceClassification:
        return ElectraForSequenceClassification(ElectraConfig(
            vocab_size=len(self.tokenizer), embedding_size=32, hidden_size=64, num_hidden_layers=2,
            num_attention_heads=4, intermediate_size=128, max_position_embeddings=32,
            num_labels=len(MAKERS), id2label=dict(enumerate(MAKERS)),
        ))

    @staticmethod
    def metrics(pred) -> dict[str, float]:
        guess = np.argmax(pred.predictions, axis=-1)
        return {"accuracy": accuracy_score(pred.label_ids, guess),
                "macro_f1": f1_score(pred.label_ids, guess, average="macro")}

    def fit(self) -> dict[str, float]:
        args = TrainingArguments(
            output_dir=str(self.workdir), num_train_epochs=8, learning_rate=2e-3, warmup_ratio=0.1,
            per_device_train_batch_size=48, per_device_eval_batch_size=128, weight_decay=0.01,
            eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
            metric_for_best_model="macro_f1", logging_steps=25, report_to="none", disable_tqdm=True,
        )
        trainer = Trainer(
            model=self.build(), args=args, train_dataset=self.train_set, eval_dataset=self.eval_set,
            processing_class=self.tokenizer, data_collator=DataCollatorWithPadding(self.tokenizer),
            compute_metrics=self.metrics, callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
        )
        trainer.train()
        return trainer.evaluate()


def main() -> None:
    with tempfile.TemporaryDirectory() as tmp:
        job = PlateClassifier(Path(tmp))
        job.prepare()
        scores = job.fit()
    for key in ("eval_loss", "eval_accuracy", "eval_macro_f1"):
        print(f"{key}: {scores[key]:.4f}")


if __name__ == "__main__":
    main()
