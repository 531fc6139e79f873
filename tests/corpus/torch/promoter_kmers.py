import argparse
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, matthews_corrcoef
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

BASES = np.array(list("ACGT"))
MOTIFS = {0: [], 1: ["TATAAA", "TATATA"], 2: ["GGGCGG", "CCGCCC"]}
K = 3
VOCAB = {"".join(p): i + 1 for i, p in enumerate(
    (a, b, c) for a in "ACGT" for b in "ACGT" for c in "ACGT")}


def draw_sequences(n_per_class, length, rng):
    sequences, classes = [], []
    for label, motifs in MOTIFS.items():
        for _ in range(n_per_class):
            seq = rng.choice(BASES, length)
            if motifs:
                for start in rng.choice(np.arange(0, length - 6, 8), size=3, replace=False):
                    seq[start:start + 6] = list(motifs[rng.integers(len(motifs))])
            sequences.append("".join(seq))
            classes.append(label)
    return sequences, classes


def to_ids(batch):
    ids = [[0] + [VOCAB[s[i:i + K]] for i in range(len(s) - K + 1)] for s in batch["sequence"]]
    return {"input_ids": ids, "attention_mask": [[1] * len(r) for r in ids]}


def prepare(n_per_class, length, seed):
    rng = np.random.default_rng(seed)
    sequences, classes = draw_sequences(n_per_class, length, rng)
    ds = Dataset.from_dict({"sequence": sequences})
    ds = ds.shuffle(seed=seed)
    ds = ds.add_column("labels", classes)
    ds = ds.map(to_ids, batched=True, remove_columns=["sequence"])
    return ds.train_test_split(test_size=0.2, seed=seed)


def metrics(p):
    guess = np.argmax(p.predictions, axis=-1)
    return {"accuracy": accuracy_score(p.label_ids, guess), "mcc": matthews_corrcoef(p.label_ids, guess)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--per-class", type=int, default=600)
    parser.add_argument("--length", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=2)
    opt = parser.parse_args()

    set_seed(opt.seed)
    data = prepare(opt.per_class, opt.length, opt.seed)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB) + 1, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=opt.length, num_labels=len(MOTIFS),
        pad_token_id=None, type_vocab_size=1))
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(output_dir=tmp, num_train_epochs=opt.epochs, learning_rate=opt.lr,
                                 per_device_train_batch_size=32, per_device_eval_batch_size=120,
                                 warmup_ratio=0.1, max_grad_norm=1.0, eval_strategy="epoch",
                                 save_strategy="no", logging_strategy="epoch", seed=opt.seed,
                                 report_to="none", disable_tqdm=True)
        trainer = Trainer(model=model, args=args, train_dataset=data["train"],
                          eval_dataset=data["test"], compute_metrics=metrics)
        trainer.train()
        on_train = trainer.evaluate(data["train"], metric_key_prefix="train")
        on_test = trainer.evaluate()
    print(f"train accuracy {on_train['train_accuracy']:.3f}")
    print(f"test accuracy {on_test['eval_accuracy']:.3f}  mcc {on_test['eval_mcc']:.3f}  chance {1 / len(MOTIFS):.3f}")


if __name__ == "__main__":
    main()
