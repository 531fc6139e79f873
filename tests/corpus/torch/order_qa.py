"""Extractive question answering over order confirmations with a small BERT."""
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import (BertConfig, BertForQuestionAnswering, Trainer, TrainingArguments,
                          get_linear_schedule_with_warmup, set_seed)

ITEMS = ["lamp", "chair", "desk", "rug", "mirror", "shelf"]
COLORS = ["red", "blue", "green", "white", "black"]
CITIES = ["oslo", "paris", "rome", "madrid", "vienna", "dublin"]
DAYS = ["monday", "tuesday", "thursday", "friday"]
FIELDS = {"what": ("order", ITEMS), "color": ("in", COLORS), "where": ("ship to", CITIES),
          "when": ("arrives", DAYS)}
SPECIAL = ["[PAD]", "[CLS]", "[SEP]"]


def make_example(rng):
    keys = list(FIELDS)
    rng.shuffle(keys)
    words, answers = [], {}
    for k in keys:
        cue, values = FIELDS[k]
        words += cue.split()
        value = rng.choice(values).split()
        if k == "color" and rng.random() < 0.4:
            value = ["dark"] + value
        answers[k] = (len(words), len(words) + len(value) - 1)
        words += value
    ask = rng.choice(keys)
    return {"question": ask, "context": words, "span": list(answers[ask])}


def build_vocab(rows):
    vocab = {t: i for i, t in enumerate(SPECIAL)}
    for r in rows:
        for w in [r["question"], *r["context"]]:
            vocab.setdefault(w, len(vocab))
    return vocab


def featurise(row, vocab, max_len=18):
    ids = [vocab["[CLS]"], vocab[row["question"]], vocab["[SEP]"]]
    offset = len(ids)
    ids += [vocab[w] for w in row["context"]] + [vocab["[SEP]"]]
    types = [0] * offset + [1] * (len(ids) - offset)
    pad = max_len - len(ids)
    return {"input_ids": ids + [0] * pad, "token_type_ids": types + [0] * pad,
            "attention_mask": [1] * len(ids) + [0] * pad,
            "start_positions": row["span"][0] + offset, "end_positions": row["span"][1] + offset}


def span_metrics(pred):
    start, end = (p.argmax(-1) for p in pred.predictions[:2])
    gold_start, gold_end = pred.label_ids
    return {"exact": float(np.mean((start == gold_start) & (end == gold_end))),
            "start_acc": float(np.mean(start == gold_start))}


def build_optimizer(model, steps, lr_body=1e-3, lr_head=3e-3):
    groups = [{"params": model.bert.parameters(), "lr": lr_body},
              {"params": model.qa_outputs.parameters(), "lr": lr_head}]
    opt = torch.optim.AdamW(groups, weight_decay=0.01)
    return opt, get_linear_schedule_with_warmup(opt, int(0.1 * steps), steps)


def main():
    set_seed(31)
    rng = random.Random(31)
    rows = [make_example(rng) for _ in range(1800)]
    vocab = build_vocab(rows)
    data = Dataset.from_list(rows).map(lambda r: featurise(r, vocab))
    split = data.train_test_split(test_size=300, seed=31)
    config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128, max_position_embeddings=20,
                        hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)
    model = BertForQuestionAnswering(config)
    epochs, batch = 8, 32
    steps = epochs * -(-len(split["train"]) // batch)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=epochs,
        per_device_train_batch_size=batch,
        per_device_eval_batch_size=100,
        eval_strategy="epoch",
        save_strategy="no",
        label_names=["labels"],
        logging_steps=50,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=split["train"],
                      eval_dataset=split["test"], compute_metrics=span_metrics,
                      optimizers=build_optimizer(model, steps))
    result = trainer.train()
    print(f"train loss {result.training_loss:.4f}")
    metrics = trainer.evaluate()
    print("evaluation:", {k: round(v, 4) for k, v in metrics.items() if "per_second" not in k})
    print(f"exact match {metrics['eval_exact']:.4f}  start accuracy {metrics['eval_start_acc']:.4f}")


if __name__ == "__main__":
    main()
