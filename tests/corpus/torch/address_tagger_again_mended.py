import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

TAGS = ["O", "B-STREET", "I-STREET", "B-CITY", "B-CODE"]
NAMES = [f"{a}{b}" for a in ["oak", "elm", "mill", "north", "river", "king", "stone", "ash"]
         for b in ["field", "wood", "bridge", "ham", "gate", "ton"]]
KINDS = ["street", "road", "lane", "avenue"]
CODES = [str(c) for c in range(100, 160)]
CHAT = "please send it to my place at in near and call me before the parcel is for us thanks".split()


def sentence(rng):
    words, tags = [], []

    def chat(k):
        for _ in range(k):
            words.append(rng.choice(CHAT))
            tags.append(0)

    chat(rng.randint(1, 3))
    if rng.random() < 0.6:
        words.extend([rng.choice(NAMES), rng.choice(KINDS)])
        tags.extend([1, 2])
        chat(rng.randint(0, 1))
    if rng.random() < 0.6:
        words.append(rng.choice(NAMES))
        tags.append(3)
    if rng.random() < 0.5:
        words.append(rng.choice(CODES))
        tags.append(4)
    chat(rng.randint(1, 3))
    return words, tags


def encode(samples, vocab):
    return [{"input_ids": [vocab.get(w, 1) for w in words], "labels": tags} for words, tags in samples]


@dataclass
class TagCollator:
    pad_id: int = 0
    length: int = 48
    label_pad: int = -100

    def __call__(self, rows):
        ids, mask, labels = [], [], []
        for row in rows:
            n, gap = len(row["input_ids"]), self.length - len(row["input_ids"])
            ids.append(row["input_ids"] + [self.pad_id] * gap)
            mask.append([1] * n + [0] * gap)
            labels.append(row["labels"] + [self.label_pad] * gap)
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                "labels": torch.tensor(labels)}


def compute_metrics(pred):
    guess, gold = pred.predictions.argmax(-1), pred.label_ids
    keep = gold != -100
    return {"token_accuracy": float((guess[keep] == gold[keep]).mean())}


def entity_recall(model, rows, collator):
    model.eval()
    batch = collator(rows)
    with torch.no_grad():
        guess = model(batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1)
    inside = batch["labels"] > 0
    return (guess[inside] == batch["labels"][inside]).float().mean().item()


def main():
    set_seed(13)
    rng = random.Random(13)
    train_raw = [sentence(rng) for _ in range(500)]
    test_raw = [sentence(rng) for _ in range(200)]
    vocab = {"<pad>": 0, "<unk>": 1}
    for words, _ in train_raw:
        for w in words:
            vocab.setdefault(w, len(vocab))
    train, test = encode(train_raw, vocab), encode(test_raw, vocab)

    config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128,
                        max_position_embeddings=64, num_labels=len(TAGS))
    collator = TagCollator()
    trainer = Trainer(
        model=BertForTokenClassification(config),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), num_train_epochs=7, learning_rate=5e-4,
            per_device_train_batch_size=16, per_device_eval_batch_size=64,
            eval_strategy="epoch", logging_steps=30, save_strategy="no",
            disable_tqdm=True, report_to=[], use_cpu=True, seed=13),
        train_dataset=train, eval_dataset=test,
        data_collator=collator, compute_metrics=compute_metrics)
    trainer.train()
    result = trainer.evaluate()
    share_o = np.mean([t == 0 for _, tags in test_raw for t in tags])
    print(f"reported token accuracy {result['eval_token_accuracy']:.3f}")
    print(f"tokens outside any entity {share_o:.3f}   recall on entity tokens "
          f"{entity_recall(trainer.model, test, collator):.3f}")


if __name__ == "__main__":
    main()
