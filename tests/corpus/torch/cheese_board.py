import argparse
import os
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

TASTES = {
    "blue": "sharp salty veined crumbly mouldy piquant".split(),
    "fresh": "mild milky soft lactic moist light".split(),
    "hard": "nutty grainy aged caramel dense crystalline".split(),
    "washed": "pungent sticky orange meaty barnyard smelly".split(),
}
FILLER = "this cheese is very quite rather and with a rind from the dairy near town we found it again today".split()


def review(rng, kind):
    words = rng.choices(FILLER, k=rng.randint(5, 12)) + rng.choices(TASTES[kind], k=2)
    words += rng.choices(sum(TASTES.values(), []), k=1)
    rng.shuffle(words)
    return " ".join(words)


def build_tokenizer(texts):
    vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]"] + sorted({w for t in texts for w in t.split()}))}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--out", default=None)
    opt = ap.parse_args()
    out = opt.out or tempfile.mkdtemp()

    set_seed(3)
    rng = random.Random(3)
    kinds = sorted(TASTES)
    rows = [(review(rng, k), kinds.index(k)) for k in rng.choices(kinds, k=1200)]
    tokenizer = build_tokenizer([t for t, _ in rows])
    data = Dataset.from_dict({"text": [t for t, _ in rows], "label": [y for _, y in rows]})
    data = data.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True, remove_columns=["text"])
    data = data.train_test_split(test_size=200, seed=3)

    config = BertConfig(vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=64, num_labels=len(kinds))
    model = BertForSequenceClassification(config)
    args = TrainingArguments(output_dir=out, num_train_epochs=opt.epochs, learning_rate=opt.lr,
                             per_device_train_batch_size=32, per_device_eval_batch_size=64, eval_strategy="epoch",
                             save_strategy="no", logging_steps=20, report_to="none", disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                      processing_class=tokenizer, data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=compute_metrics)
    trainer.train()
    print("in memory:", trainer.evaluate()["eval_accuracy"])
    trainer.save_model(out)

    again = BertForSequenceClassification(config)
    again.load_state_dict(torch.load(os.path.join(out, "pytorch_model.bin"), map_location="cpu"))
    again.eval()
    batch = tokenizer([review(rng, k) for k in kinds for _ in range(20)], padding=True, return_tensors="pt")
    with torch.no_grad():
        guess = again(batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1).numpy()
    print("read back:", float((guess == np.repeat(np.arange(len(kinds)), 20)).mean()))


if __name__ == "__main__":
    main()
