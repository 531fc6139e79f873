import random
import resource
import tempfile
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB, LENGTH = 4000, 40


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class SymbolStream(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rnd = random.Random(seed)
        self.rows = []
        for _ in range(n):
            row = [rnd.randrange(VOCAB)]
            while len(row) < LENGTH:
                jump = rnd.random() < 0.1
                row.append(rnd.randrange(300) if jump else (row[-1] * 7 + 3) % 300)
            self.rows.append(torch.tensor(row[:LENGTH]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i].clone()}


def keep_argmax(logits, labels):
    if isinstance(logits, tuple):
        logits = logits[0]
    return logits.argmax(dim=-1)


def token_accuracy(pred):
    guess = pred.predictions
    if guess.ndim == 3:
        guess = guess.argmax(-1)
    return {"token_accuracy": float((guess[:, :-1] == pred.label_ids[:, 1:]).mean())}


def build(n_layer=2, n_embd=64):
    cfg = GPT2Config(vocab_size=VOCAB, n_positions=LENGTH, n_embd=n_embd, n_layer=n_layer, n_head=4,
                     bos_token_id=0, eos_token_id=0)
    return GPT2LMHeadModel(cfg)


def main():
    set_seed(6)
    train, valid = SymbolStream(480, 0), SymbolStream(700, 1)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=3, learning_rate=4e-3,
        per_device_train_batch_size=16, per_device_eval_batch_size=25, save_strategy="no",
        logging_steps=50, report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(
        model=build(), args=args, train_dataset=train, eval_dataset=valid,
        compute_metrics=token_accuracy,
        preprocess_logits_for_metrics=keep_argmax,
    )
    trainer.train()
    before = rss_mb()
    m = trainer.evaluate()
    after = rss_mb()
    print(f"valid loss {m['eval_loss']:.3f} token accuracy {m['eval_token_accuracy']:.3f}")
    print(f"peak memory before evaluation {before:.0f} MB, after {after:.0f} MB (+{after - before:.0f})")


if __name__ == "__main__":
    main()
