"""Cross-validated churn prediction from sequences of customer events."""
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)
from tokenizers import Tokenizer, models, pre_tokenizers

EVENTS = ["login", "browse", "search", "buy", "return", "complain", "call", "rate", "share", "pause",
          "upgrade", "downgrade", "coupon", "logout"]
LENGTH = 20


def simulate(n, rng):
    """Customers who complain or downgrade late in their history tend to leave."""
    texts, leaves = [], []
    calm = np.ones(len(EVENTS)) / len(EVENTS)
    upset = calm.copy()
    for name in ("complain", "downgrade", "pause", "return"):
        upset[EVENTS.index(name)] *= 4
    upset /= upset.sum()
    for _ in range(n):
        leaving = int(rng.random() < 0.5)
        length = int(rng.integers(10, LENGTH + 1))
        early = rng.choice(EVENTS, size=length // 2, p=calm)
        late = rng.choice(EVENTS, size=length - length // 2, p=upset if leaving else calm)
        texts.append(" ".join([*early, *late]))
        leaves.append(leaving)
    return texts, leaves


def event_tokenizer():
    vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]", *EVENTS])}
    tok = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def build_model(vocab_size):
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=vocab_size, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=96, max_position_embeddings=LENGTH, num_labels=2,
        )
    )


def compute_metrics(p):
    logits, labels = p
    margin = logits[:, 1] - logits[:, 0]
    return {"auc": roc_auc_score(labels, margin), "accuracy": float(((margin > 0) == labels).mean())}


def main():
    set_seed(5)
    texts, leaves = simulate(2400, np.random.default_rng(5))
    tokenizer = event_tokenizer()
    data = Dataset.from_dict({"text": texts, "label": leaves})
    data = data.map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])

    model = build_model(len(tokenizer))
    print(f"{model.num_parameters():,} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)

    scores = []
    folds = StratifiedKFold(n_splits=3, shuffle=True, random_state=5)
    for number, (train_rows, test_rows) in enumerate(folds.split(texts, leaves), start=1):
        model = build_model(len(tokenizer))
        with tempfile.TemporaryDirectory() as out:
            trainer = Trainer(
                model=model,
                args=TrainingArguments(
                    output_dir=out, num_train_epochs=5, per_device_train_batch_size=32,
                    per_device_eval_batch_size=200, logging_steps=50, save_strategy="no",
                    lr_scheduler_type="constant", report_to="none", use_cpu=True, seed=5,
                ),
                train_dataset=data.select(train_rows),
                eval_dataset=data.select(test_rows),
                data_collator=DataCollatorWithPadding(tokenizer),
                compute_metrics=compute_metrics,
                optimizers=(optimizer, None),
            )
            trainer.train()
            result = trainer.evaluate()
        scores.append(result["eval_auc"])
        print(f"fold {number}: auc {result['eval_auc']:.3f} accuracy {result['eval_accuracy']:.3f}")
    print(f"mean auc {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
