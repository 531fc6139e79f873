import random
import tempfile

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

TEAMS = ["billing", "hardware", "shipping"]
PHRASES = {
    "billing": ["the invoice shows a wrong amount", "please refund the double charge",
                "my card was charged twice", "the tax on the invoice is missing"],
    "hardware": ["the screen stays dark", "the fan is loud and the case gets hot",
                 "the battery does not hold power", "a key on the keyboard is broken"],
    "shipping": ["the parcel has not arrived", "tracking shows no movement",
                 "the box was left at a neighbour", "please change the delivery address"],
}
FILLER = ["hello", "good morning", "i bought this last week", "thanks for your help",
          "this is urgent", "as discussed on the phone", "i am still waiting"]
PART_NUMBERS = ["XR100", "XR200", "ZK7", "ZK9", "PWR45", "HUB8"]


def make_tickets(n, seed):
    rng = random.Random(seed)
    rows = {"text": [], "label": []}
    for _ in range(n):
        label = rng.randrange(len(TEAMS))
        bits = [rng.choice(FILLER), rng.choice(PHRASES[TEAMS[label]]),
                "about " + rng.choice(PART_NUMBERS), rng.choice(FILLER)]
        if rng.random() < 0.5:
            rng.shuffle(bits)
        rows["text"].append(" ".join(bits))
        rows["label"].append(label)
    return Dataset.from_dict(rows)


def build_tokenizer(texts):
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordPieceTrainer(
        vocab_size=220, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    core.train_from_iterator(texts, trainer)
    tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                  cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    tok.add_tokens(PART_NUMBERS)
    return tok


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


def main():
    set_seed(7)
    train_ds, test_ds = make_tickets(900, 1), make_tickets(200, 2)
    general = [p for group in PHRASES.values() for p in group] + FILLER
    tokenizer = build_tokenizer(general)

    def encode(batch):
        texts = ["[CLS] " + t for t in batch["text"]]
        return tokenizer(texts, truncation=True, max_length=64)

    train_ds = train_ds.map(encode, batched=True, remove_columns=["text"])
    test_ds = test_ds.map(encode, batched=True, remove_columns=["text"])

    config = BertConfig(
        vocab_size=tokenizer.vocab_size, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=128, max_position_embeddings=96,
        num_labels=len(TEAMS), pad_token_id=tokenizer.pad_token_id)
    model = BertForSequenceClassification(config)

    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=1e-3, eval_strategy="epoch",
        save_strategy="no", logging_steps=20, report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                      data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=compute_metrics)
    trainer.train()
    print("test accuracy", trainer.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
