import numpy as np
import torch
from datasets import Dataset
from scipy.stats import spearmanr
from sklearn.metrics import r2_score
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments,
                          default_data_collator, set_seed)

LENGTH = 40
BASES = "ACGT"


def simulate(n, rng):
    seqs = rng.integers(0, 4, (n, LENGTH))
    gc = np.isin(seqs, [1, 2]).mean(1)
    cpg = ((seqs[:, :-1] == 1) & (seqs[:, 1:] == 2)).sum(1)
    strength = 10 * gc + 0.6 * cpg + rng.normal(0, 0.15, n)
    return ["".join(BASES[b] for b in s) for s in seqs], strength


def encode(batch):
    return {"input_ids": [[BASES.index(c) for c in s] for s in batch["sequence"]]}


def compute_metrics(p):
    pred = p.predictions.squeeze(-1)
    return {"r2": r2_score(p.label_ids, pred), "spearman": spearmanr(p.label_ids, pred).statistic}


def main():
    set_seed(5)
    rng = np.random.default_rng(5)
    seqs, strength = simulate(2400, rng)
    mean, std = strength[:2000].mean(), strength[:2000].std()
    labels = ((strength - mean) / std).astype(np.float32)
    ds = Dataset.from_dict({"sequence": seqs, "labels": labels}).map(encode, batched=True)
    train, test = ds.select(range(2000)), ds.select(range(2000, 2400))

    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=4, dim=32, n_layers=1, n_heads=4, hidden_dim=64, max_position_embeddings=LENGTH,
        pad_token_id=None, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0, num_labels=1))
    args = TrainingArguments(
        output_dir="out", num_train_epochs=5, per_device_train_batch_size=40,
        per_device_eval_batch_size=200, learning_rate=3e-3, warmup_ratio=0.1, eval_strategy="epoch",
        save_strategy="no", logging_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=default_data_collator, compute_metrics=compute_metrics)
    trainer.train()
    res = trainer.evaluate()
    print(f"test mse {res['eval_loss']:.4f}  r2 {res['eval_r2']:.3f}  spearman {res['eval_spearman']:.3f}")


if __name__ == "__main__":
    main()
