"""Two phases: masked-token pretraining of a tiny BERT, then a classifier on the frozen encoder."""
import os
os.environ["USE_TF"] = "0"
import numpy as np
import torch
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

V, LENGTH, MASK, CLS = 34, 16, 2, 1
TOPICS = 3


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, n)
    own = 3 + topic[:, None] * 10 + rng.integers(0, 10, (n, LENGTH - 1))
    noise = rng.integers(3, V, (n, LENGTH - 1))
    body = np.where(rng.random((n, LENGTH - 1)) < 0.65, own, noise)
    return np.concatenate([np.full((n, 1), CLS), body], 1), topic


def as_rows(ids, topic):
    return [{"input_ids": torch.tensor(i), "attention_mask": torch.ones(LENGTH, dtype=torch.long), "labels": int(t)}
            for i, t in zip(ids, topic)]


def mask_collator(rows):
    ids = torch.stack([r["input_ids"] for r in rows])
    labels = torch.full_like(ids, -100)
    chosen = (torch.rand(ids.shape) < 0.15) & (ids > 2)
    labels[chosen] = ids[chosen]
    return {"input_ids": ids.masked_fill(chosen, MASK), "labels": labels,
            "attention_mask": torch.stack([r["attention_mask"] for r in rows])}


def arguments(name, **kw):
    return TrainingArguments(output_dir=f"/tmp/frozen_probe_{name}", per_device_train_batch_size=32, report_to=[],
                             save_strategy="no", logging_steps=60, disable_tqdm=True, **kw)


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(9)
    ids, topic = sentences(1400, 1)
    rows = as_rows(ids, topic)
    test = as_rows(*sentences(300, 2))
    cfg = BertConfig(vocab_size=V, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0,
                     intermediate_size=96, max_position_embeddings=LENGTH, num_labels=TOPICS)
    lm = BertForMaskedLM(cfg)
    Trainer(model=lm, args=arguments("mlm", num_train_epochs=8, learning_rate=3e-3, warmup_ratio=0.1),
            train_dataset=rows, data_collator=mask_collator).train()

    clf = BertForSequenceClassification(cfg)
    missing = clf.bert.load_state_dict(lm.bert.state_dict(), strict=False)
    print("not in the pretrained encoder:", missing.missing_keys)
    for name, p in clf.bert.named_parameters():
        p.requires_grad = name.startswith("pooler")
    trainer = Trainer(model=clf, args=arguments("clf", num_train_epochs=8, learning_rate=1e-2),
                      train_dataset=rows[:320], eval_dataset=test, compute_metrics=compute_metrics)
    trainer.train()
    r = trainer.evaluate()
    print(f"test loss {r['eval_loss']:.3f}  accuracy {r['eval_accuracy']:.3f}  (chance {1 / TOPICS:.3f})")


if __name__ == "__main__":
    main()
