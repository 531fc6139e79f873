import random
from dataclasses import dataclass, field

import numpy as np
from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, HfArgumentParser, Trainer, TrainingArguments,
                          set_seed)

TOPICS = {
    "billing": "invoice refund charge card payment receipt vat overcharged".split(),
    "login": "password reset locked account code email sign username".split(),
    "delivery": "courier parcel tracking late doorstep depot address lost".split(),
    "returns": "broken exchange label warranty faulty replace box return".split(),
    "praise": "thanks great friendly quick lovely recommend perfect happy".split(),
}
COMMON = "hello i have my the a please is was can you it to and for yesterday order from since still".split()


@dataclass
class Config:
    n_train: int = 900
    n_test: int = 250
    epochs: int = 5
    lr: float = field(default=1e-3, metadata={"help": "peak learning rate"})
    max_len: int = 32


class Vocab:
    def __init__(self):
        words = ["[PAD]", "[CLS]"] + COMMON + sum(TOPICS.values(), [])
        self.index = {w: i for i, w in enumerate(words)}

    def __len__(self):
        return len(self.index)

    def __call__(self, text, max_len):
        ids = [self.index["[CLS]"]] + [self.index[w] for w in text.split()][:max_len - 1]
        pad = max_len - len(ids)
        return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad, "n_tokens": len(ids)}


def read_mails(n, seed):
    r = random.Random(seed)
    names = list(TOPICS)
    texts, labels = [], []
    for _ in range(n):
        k = r.randrange(len(names))
        words = r.choices(COMMON, k=r.randint(5, 22)) + r.choices(TOPICS[names[k]], k=r.randint(2, 5))
        r.shuffle(words)
        texts.append(" ".join(words))
        labels.append(k)
    return texts, labels


def prepare(texts, labels, vocab, cfg):
    ds = Dataset.from_dict({"text": texts})
    ds = ds.map(lambda row: vocab(row["text"], cfg.max_len), remove_columns="text")
    ds = ds.sort("n_tokens")
    ds = ds.add_column("labels", labels)
    return ds.remove_columns("n_tokens")


def main():
    (cfg,) = HfArgumentParser(Config).parse_args_into_dataclasses()
    set_seed(0)
    vocab = Vocab()
    train = prepare(*read_mails(cfg.n_train, 1), vocab, cfg)
    test = prepare(*read_mails(cfg.n_test, 2), vocab, cfg)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=cfg.max_len, num_labels=len(TOPICS)))
    args = TrainingArguments(output_dir="support_out", num_train_epochs=cfg.epochs, learning_rate=cfg.lr,
                             per_device_train_batch_size=16, warmup_ratio=0.1, eval_strategy="epoch",
                             save_strategy="no", logging_steps=25, report_to="none")
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=lambda p: {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))})
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
