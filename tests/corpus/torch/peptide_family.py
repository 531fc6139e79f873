import random
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

AMINO = "ACDEFGHIKLMNPQRSTVWY"
VOCAB = {"<pad>": 0, "<cls>": 1, **{a: i + 2 for i, a in enumerate(AMINO)}}
FAMILY_PROFILE = {0: "KRH", 1: "DEN", 2: "LIVM", 3: "FWY"}
MAX_LEN = 48


def draw_peptide(family, rnd):
    n = rnd.randint(20, 45)
    weights = [4.0 if a in FAMILY_PROFILE[family] else 1.0 for a in AMINO]
    return "".join(rnd.choices(AMINO, weights=weights, k=n))


class Peptides(Dataset):
    def __init__(self, n, seed):
        rnd = random.Random(seed)
        self.y = [rnd.randrange(4) for _ in range(n)]
        self.seqs = [draw_peptide(f, rnd) for f in self.y]

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        ids = [VOCAB["<cls>"]] + [VOCAB[a] for a in self.seqs[i]]
        mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
        ids = ids + [VOCAB["<pad>"]] * (MAX_LEN - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                "labels": torch.tensor(self.y[i])}


class ShortLog(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step:4d}  loss {logs['loss']:.4f}")


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


def main():
    set_seed(13)
    train, test = Peptides(1000, 1), Peptides(400, 2)
    config = BertConfig(vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128,
                        max_position_embeddings=MAX_LEN, num_labels=4)
    model = BertForSequenceClassification(config)

    training_args = TrainingArguments(
        output_dir="out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=8e-4,
        warmup_steps=5000,
        weight_decay=0.01,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=16,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=training_args, train_dataset=train, eval_dataset=test,
                      compute_metrics=metrics, callbacks=[ShortLog()])
    trainer.train()
    res = trainer.evaluate()
    print(f"test accuracy {res['eval_accuracy']:.3f}  test loss {res['eval_loss']:.4f}")


if __name__ == "__main__":
    main()
