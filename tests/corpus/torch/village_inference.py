"""Village NLI, three labels.

Many village words are cut into pieces by WordPiece, so I make a tokenizer from the training texts themselves,
with which (almost) every word is one token and the sequences get shorter.
"""
import argparse
import os

import evaluate
import numpy as np
from datasets import load_dataset
from tokenizers import BertWordPieceTokenizer
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, BertTokenizerFast, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def village_tokenizer(texts, size, folder):
    """WordPiece on our own texts, same special tokens as BERT."""
    os.makedirs(folder, exist_ok=True)
    trainer = BertWordPieceTokenizer(lowercase=True)
    trainer.train_from_iterator(texts, vocab_size=size, min_frequency=1, special_tokens=SPECIAL, show_progress=False)
    trainer.save_model(folder)
    return BertTokenizerFast(vocab_file=os.path.join(folder, "vocab.txt"), model_max_length=512)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="assets/distilbert-mini")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--seed", type=int, default=8)
    cli = parser.parse_args()
    set_seed(cli.seed)

    data = load_dataset("assets/nli", "3_labels")
    names = data["train"].features["label"].names
    model = AutoModelForSequenceClassification.from_pretrained(
        cli.model, num_labels=len(names), id2label=dict(enumerate(names)), label2id={n: i for i, n in enumerate(names)}
    )
    texts = list(data["train"]["premise"]) + list(data["train"]["hypothesis"])
    tokenizer = village_tokenizer(texts, model.config.vocab_size, "village-vocab")
    print(tokenizer.tokenize(texts[0]))

    def encode(batch):
        enc = tokenizer(batch["premise"], batch["hypothesis"], truncation=True, max_length=128)
        enc.pop("token_type_ids", None)
        return enc

    data = data.map(encode, batched=True, load_from_cache_file=False)
    print("longest:", max(len(x) for x in data["train"]["input_ids"]), "unknown:",
          sum(x.count(tokenizer.unk_token_id) for x in data["train"]["input_ids"]))

    accuracy = evaluate.load("assets/accuracy")

    def compute_metrics(eval_pred):
        logits, labels = eval_pred
        return accuracy.compute(predictions=np.argmax(logits, axis=-1), references=labels)

    args = TrainingArguments(
        output_dir="village", max_steps=cli.steps, learning_rate=cli.lr, per_device_train_batch_size=16,
        per_device_eval_batch_size=50, eval_strategy="steps", eval_steps=75, logging_steps=25, save_strategy="no",
        seed=cli.seed, report_to="none", disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=data["train"], eval_dataset=data["validation_matched"],
        data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics,
    )
    trainer.train()
    print("matched   ", trainer.evaluate())
    print("mismatched", trainer.evaluate(data["validation_mismatched"]))


if __name__ == "__main__":
    main()
