import random
import tempfile
from dataclasses import dataclass
import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

GOOD = "great lovely tasty friendly fresh cosy quick perfect generous warm".split()
BAD = "cold rude slow bland dirty noisy overpriced stale burnt late".split()
NEUTRAL = "the food waiter table soup dessert place was and we came with our family on sunday ordered two three".split()
VOCAB = {w: i + 3 for i, w in enumerate(GOOD + BAD + NEUTRAL)}
VOCAB["not"] = len(VOCAB) + 3
MAXLEN = 32


@dataclass
class HParams:
    lr: float = 2e-2
    epochs: int = 4
    batch: int = 32
    warmup_ratio: float = 0.1


def write_review(rnd):
    stars = rnd.randrange(3)
    n = rnd.randint(4, 6)
    share = [0.05, 0.5, 0.95][stars]
    n_good = round(share * n)
    opinions = []
    for k in range(n):
        good = k < n_good
        if rnd.random() < 0.1:
            opinions.append(["not", rnd.choice(BAD if good else GOOD)])
        else:
            opinions.append([rnd.choice(GOOD if good else BAD)])
    rnd.shuffle(opinions)
    words = []
    for op in opinions:
        words += rnd.choices(NEUTRAL, k=rnd.randint(1, 3)) + op
    return words, stars


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rnd = random.Random(seed)
        self.items = [write_review(rnd) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, stars = self.items[i]
        ids = ([1] + [VOCAB[w] for w in words] + [2])[:MAXLEN]
        pad = MAXLEN - len(ids)
        return {"input_ids": torch.tensor(ids + [0] * pad),
                "attention_mask": torch.tensor([1] * len(ids) + [0] * pad),
                "labels": torch.tensor(stars)}


class PrintEval(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics, **kwargs):
        print(f"step {state.global_step}: eval loss {metrics['eval_loss']:.3f} acc {metrics['eval_accuracy']:.3f}")


def metrics(pred):
    guess = pred.predictions.argmax(-1)
    counts = np.bincount(guess, minlength=3)
    return {"accuracy": float((guess == pred.label_ids).mean()), "largest": int(counts.max())}


def main(hp=HParams()):
    set_seed(3)
    config = DistilBertConfig(vocab_size=len(VOCAB) + 3, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                              max_position_embeddings=MAXLEN, num_labels=3)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), learning_rate=hp.lr, num_train_epochs=hp.epochs,
        per_device_train_batch_size=hp.batch, per_device_eval_batch_size=100, warmup_ratio=hp.warmup_ratio,
        weight_decay=0.01, eval_strategy="epoch", save_strategy="no", logging_steps=40, report_to="none",
        use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=DistilBertForSequenceClassification(config), args=args, train_dataset=Reviews(2400, 0),
                      eval_dataset=Reviews(500, 1), compute_metrics=metrics, callbacks=[PrintEval()])
    trainer.train()
    m = trainer.evaluate()
    print(f"accuracy {m['eval_accuracy']:.3f}  loss {m['eval_loss']:.3f}  largest predicted class {m['eval_largest']} of 500")


if __name__ == "__main__":
    main()
