"""Turns a hotel guest's request into a command for the building system (Seq2SeqTrainer, a small T5)."""
import argparse
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          T5Config, T5ForConditionalGeneration, set_seed)

SLOTS = ["[ROOM]", "[TIME]", "[ITEM]"]
ITEMS = ["towels", "pillows", "coffee", "slippers", "water", "blanket"]
HOURS = ["six", "seven", "eight", "nine", "ten"]
ROOMS = [str(n) for n in range(101, 121)]
PATTERNS = [
    ("please bring {item} to room {room}", "deliver [ITEM] {item} [ROOM] {room}"),
    ("could room {room} have {item} please", "deliver [ITEM] {item} [ROOM] {room}"),
    ("wake me at {hour} in room {room}", "wake [TIME] {hour} [ROOM] {room}"),
    ("i am in {room} and need a call at {hour}", "wake [TIME] {hour} [ROOM] {room}"),
    ("clean room {room} at {hour}", "clean [ROOM] {room} [TIME] {hour}"),
]


def make_rows(n, rng):
    rows = []
    for _ in range(n):
        ask, command = rng.choice(PATTERNS)
        values = {"item": rng.choice(ITEMS), "hour": rng.choice(HOURS), "room": rng.choice(ROOMS)}
        rows.append({"request": ask.format(**values), "command": command.format(**values)})
    return rows


def build_tokenizer(rows):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    texts = [r["request"] for r in rows]
    texts += [" ".join(w for w in r["command"].split() if w not in SLOTS) for r in rows]
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"]))
    tok.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
    fast.add_tokens(SLOTS)
    return fast


def build_model(tok):
    config = T5Config(
        vocab_size=tok.vocab_size,
        d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
        pad_token_id=tok.pad_token_id, eos_token_id=tok.eos_token_id, decoder_start_token_id=tok.pad_token_id,
    )
    return T5ForConditionalGeneration(config)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--epochs", type=float, default=6)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--out", default="out/concierge")
    args = parser.parse_args()

    set_seed(11)
    rng = random.Random(11)
    train_rows, test_rows = make_rows(args.rows, rng), make_rows(100, rng)
    tok = build_tokenizer(train_rows)
    model = build_model(tok)

    def encode(row):
        out = tok(row["request"], return_token_type_ids=False)
        out["labels"] = tok(row["command"])["input_ids"]
        return out

    train = Dataset.from_list(train_rows).map(encode, remove_columns=["request", "command"])
    test = Dataset.from_list(test_rows).map(encode, remove_columns=["request", "command"])

    def compute_metrics(p):
        preds = np.where(p.predictions < 0, tok.pad_token_id, p.predictions)
        labels = np.where(p.label_ids < 0, tok.pad_token_id, p.label_ids)
        preds = tok.batch_decode(preds, skip_special_tokens=True)
        labels = tok.batch_decode(labels, skip_special_tokens=True)
        return {"exact": float(np.mean([a == b for a, b in zip(preds, labels)]))}

    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            output_dir=args.out, num_train_epochs=args.epochs, learning_rate=args.lr, per_device_train_batch_size=32,
            per_device_eval_batch_size=50, predict_with_generate=True, generation_max_length=10, logging_steps=50,
            save_strategy="no", report_to="none", disable_tqdm=True, seed=11),
        train_dataset=train,
        eval_dataset=test,
        data_collator=DataCollatorForSeq2Seq(tok, model=model),
        processing_class=tok,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
