"""Tag ships, ports and dates in harbour messages (token classification, subword pieces)."""
import random
import tempfile

import numpy as np
from transformers import (DataCollatorForTokenClassification, DistilBertConfig, DistilBertForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers

SHIPS = ["aurora", "seawolf", "northstar", "marigold", "petrel", "ironside"]
PORTS = ["bergen", "cadiz", "rotterdam", "hull", "gdansk", "antwerp"]
DAYS = ["monday", "tuesday", "friday", "noon", "midnight"]
PLAIN = "the vessel will leave from berth at and reach before after cargo of grain steel is late delayed cleared".split()
TAGS = ["O", "SHIP", "PORT", "DATE"]


def make_tokenizer():
    pieces = set()
    for w in SHIPS + PORTS + DAYS + PLAIN:
        pieces.add(w[:3])
        pieces.update("##" + w[i:i + 2] for i in range(3, len(w), 2))
    vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]"] + sorted(pieces))}
    tok = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def message(r):
    words, tags = [], []
    for _ in range(r.randint(6, 14)):
        k = r.random()
        if k < 0.15:
            words.append(r.choice(SHIPS)); tags.append(1)
        elif k < 0.30:
            words.append(r.choice(PORTS)); tags.append(2)
        elif k < 0.40:
            words.append(r.choice(DAYS)); tags.append(3)
        else:
            words.append(r.choice(PLAIN)); tags.append(0)
    return words, tags


def encode(tokenizer, words, tags):
    enc = tokenizer(words, is_split_into_words=True)
    labels, last = [], None
    for wid in enc.word_ids():
        labels.append(-100 if wid is None or wid == last else tags[wid])
        last = wid
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = np.argmax(logits, axis=-1)
    out = {"accuracy": float((preds == labels)[labels != -100].mean())}
    for i, name in enumerate(TAGS):
        out[f"recall_{name}"] = float((preds[labels == i] == i).mean())
    return out


def main():
    set_seed(2)
    r = random.Random(2)
    tokenizer = make_tokenizer()
    data = [encode(tokenizer, *message(r)) for _ in range(2000)]
    model = DistilBertForTokenClassification(DistilBertConfig(
        vocab_size=len(tokenizer), dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=128, num_labels=len(TAGS)))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=3, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=1e-3, eval_strategy="epoch", logging_steps=25,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(
        model=model, args=args, train_dataset=data[:1600], eval_dataset=data[1600:],
        data_collator=DataCollatorForTokenClassification(tokenizer),
        compute_metrics=compute_metrics)
    trainer.train()
    for k, v in trainer.evaluate().items():
        print(f"{k:28s} {v:.3f}")


if __name__ == "__main__":
    main()
