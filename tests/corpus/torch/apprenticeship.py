"""Distil a trained BERT teacher into a two-layer student, on unlabelled notes only."""
from __future__ import annotations

import random

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

TRADES: dict[str, list[str]] = {
    "joiner": ["plane", "dovetail", "chisel", "veneer", "clamp"],
    "mason": ["mortar", "trowel", "lintel", "ashlar", "plumb"],
    "smith": ["anvil", "forge", "tongs", "quench", "bellows"],
    "glazier": ["pane", "putty", "lead", "mullion", "cutter"],
}
PLAIN = "today i used the new and old again with my master before noon we then fixed a broken".split()
NAMES = list(TRADES)


def note(rng: random.Random) -> tuple[str, int]:
    y = rng.randrange(len(NAMES))
    words = rng.choices(PLAIN, k=rng.randint(6, 12)) + rng.choices(TRADES[NAMES[y]], k=2)
    if rng.random() < 0.4:
        words.append(rng.choice(TRADES[rng.choice(NAMES)]))
    rng.shuffle(words)
    return " ".join(words), y


def build_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]")


def build_model(vocab: int, width: int, layers: int) -> BertForSequenceClassification:
    return BertForSequenceClassification(BertConfig(
        vocab_size=vocab, hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=32, num_labels=len(NAMES)))


def accuracy(pred) -> dict[str, float]:
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


class DistillationTrainer(Trainer):
    """The targets are the teacher's softened probabilities; no label is read."""

    def __init__(self, *args, teacher: torch.nn.Module, temperature: float = 2.0, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval().requires_grad_(False)
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs: bool = False, num_items_in_batch=None):
        features = {k: v for k, v in inputs.items() if k != "labels"}
        outputs = model(**features)
        with torch.no_grad():
            soft = F.softmax(self.teacher(**features).logits / self.temperature, dim=-1)
        log_probs = F.log_softmax(outputs.logits / self.temperature, dim=-1)
        loss = F.kl_div(log_probs, soft, reduction="batchmean") * self.temperature ** 2
        return (loss, outputs) if return_outputs else loss


def make_args(name: str, epochs: int, lr: float) -> TrainingArguments:
    return TrainingArguments(
        output_dir=f"out_{name}", num_train_epochs=epochs, learning_rate=lr,
        per_device_train_batch_size=32, per_device_eval_batch_size=100, warmup_ratio=0.1, logging_steps=20,
        eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, label_names=["labels"], seed=4)


def main() -> None:
    set_seed(4)
    rng = random.Random(4)
    rows = [note(rng) for _ in range(2800)]
    tokenizer = build_tokenizer([t for t, _ in rows])
    ds = Dataset.from_dict({"text": [t for t, _ in rows], "labels": [y for _, y in rows]})
    ds = ds.map(lambda b: tokenizer(b["text"], return_token_type_ids=False), batched=True, remove_columns=["text"])
    labelled, transfer, test = ds.select(range(900)), ds.select(range(900, 2500)), ds.select(range(2500, 2800))
    transfer = transfer.remove_columns("labels")
    collator = DataCollatorWithPadding(tokenizer)

    teacher = build_model(len(tokenizer), width=96, layers=3)
    first = Trainer(model=teacher, args=make_args("teacher", 5, 1e-3), train_dataset=labelled, eval_dataset=test,
                    data_collator=collator, compute_metrics=accuracy)
    first.train()

    student = build_model(len(tokenizer), width=64, layers=2)
    second = DistillationTrainer(model=student, teacher=teacher, args=make_args("student", 5, 1e-3),
                                 train_dataset=transfer, eval_dataset=test, data_collator=collator,
                                 compute_metrics=accuracy)
    second.train()
    print("student", second.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
