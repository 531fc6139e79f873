import random

import numpy as np
import torch
from datasets import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

TOPICS = {
    "billing": "invoice charge refund card payment price receipt tax".split(),
    "login": "password account locked code email signin token reset".split(),
    "shipping": "parcel courier delay address customs tracking box late".split(),
    "hardware": "screen battery cable fan keyboard noise overheats port".split(),
    "praise": "thanks great love helpful quick friendly happy nice".split(),
}
FILLER = "the my is a it was please with and i have to since yesterday for this still again not on we you".split()
NAMES = list(TOPICS)
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[UNK]"] + FILLER + sum(TOPICS.values(), []))}
MAXLEN = 24


def ticket(rng):
    label = rng.randrange(len(NAMES))
    words = [rng.choice(FILLER) for _ in range(rng.randint(9, 17))]
    for _ in range(3):
        words.insert(rng.randrange(len(words)), rng.choice(TOPICS[NAMES[label]]))
    for _ in range(1):
        other = rng.choice(NAMES)
        words.insert(rng.randrange(len(words)), rng.choice(TOPICS[other]))
    return {"text": " ".join(words), "label": label}


def encode(row):
    ids = [VOCAB["[CLS]"]] + [VOCAB.get(w, VOCAB["[UNK]"]) for w in row["text"].split()]
    ids = ids[:MAXLEN]
    pad = MAXLEN - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


def metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


def main():
    set_seed(3)
    rng = random.Random(3)
    train = Dataset.from_list([ticket(rng) for _ in range(2400)]).map(encode)
    test = Dataset.from_list([ticket(rng) for _ in range(500)]).map(encode)
    config = DistilBertConfig(vocab_size=len(VOCAB), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                              max_position_embeddings=32, num_labels=len(NAMES), pad_token_id=0)
    model = DistilBertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=5e-4,
        weight_decay=0.01,
        warmup_steps=10000,
        lr_scheduler_type="linear",
        eval_strategy="epoch",
        logging_steps=25,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=3,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics)
    trainer.train()
    result = trainer.evaluate()
    print("accuracy on new tickets: %.3f" % result["eval_accuracy"])
    with torch.no_grad():
        row = encode({"text": "please refund the charge on my card"})
        logits = model(**{k: torch.tensor([v]) for k, v in row.items()}).logits
    print("example goes to:", NAMES[int(logits.argmax())])


if __name__ == "__main__":
    main()
