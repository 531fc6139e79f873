"""Extractive question answering over notices of a harbour office."""
import argparse
import collections
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForQuestionAnswering, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

PLACES = "oban mallaig tobermory lerwick kirkwall ullapool brodick craignure".split()
SHIPS = ["the isle of arran", "the lord of the isles", "the clansman", "the finlaggan", "the loch seaforth"]
PEOPLE = ["captain reid", "mate sinclair", "officer lamont", "pilot isla mackay", "captain drummond"]
REASONS = ["high swell", "engine trouble", "a late tide", "fog at the pier", "crew shortage"]
FILLER = ["passengers are kindly reminded to keep tickets at hand .", "the cafe on the quay stays open .",
          "dogs must be kept on a lead .", "bicycles travel free of charge .",
          "please do not leave luggage unattended near the gangway at any time ."]
QUESTIONS = {"time": "when does the ferry leave", "place": "where does the ferry go",
             "person": "who is in command", "reason": "why is there a delay", "ship": "which vessel sails"}


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--n", type=int, default=1500)
    p.add_argument("--test", type=int, default=300)
    p.add_argument("--epochs", type=float, default=8)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


def notice(rng):
    facts = {"time": f"{rng.randint(5, 22)}h{rng.choice(['00', '15', '30', '45'])}", "place": rng.choice(PLACES),
             "person": rng.choice(PEOPLE), "reason": rng.choice(REASONS), "ship": rng.choice(SHIPS)}
    sentences = [f"departure is set for {facts['time']} .", f"today it is bound for {facts['place']} .",
                 f"on the bridge stands {facts['person']} .", f"delays occur because of {facts['reason']} .",
                 f"the crossing is made by {facts['ship']} ."]
    sentences += rng.sample(FILLER, rng.randint(0, 3))
    rng.shuffle(sentences)
    kind = rng.choice(list(QUESTIONS))
    context = " ".join(sentences)
    marker = {"time": "set for ", "place": "bound for ", "person": "stands ", "reason": "because of ",
              "ship": "made by "}[kind]
    start = context.index(marker) + len(marker)
    return {"question": QUESTIONS[kind], "context": context, "answer": facts[kind], "answer_start": start}


def build_tokenizer(rows):
    words = sorted({w for r in rows for w in (r["question"] + " " + r["context"]).split()})
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]")


def prepare(rows, tokenizer):
    def fn(batch):
        enc = tokenizer(batch["question"], batch["context"], return_offsets_mapping=True)
        starts, ends = [], []
        for i, offsets in enumerate(enc.pop("offset_mapping")):
            first = batch["answer_start"][i]
            last = first + len(batch["answer"][i])
            inside = [k for k, (s, e) in enumerate(offsets)
                      if enc.sequence_ids(i)[k] == 1 and s >= first and e <= last]
            starts.append(inside[0])
            ends.append(inside[-1])
        enc["start_positions"], enc["end_positions"] = starts, ends
        return enc
    ds = Dataset.from_list(rows)
    return ds.map(fn, batched=True, remove_columns=ds.column_names)


def f1(guess, truth):
    common = collections.Counter(guess.split()) & collections.Counter(truth.split())
    same = sum(common.values())
    if not same:
        return 0.0
    precision, recall = same / len(guess.split()), same / len(truth.split())
    return 2 * precision * recall / (precision + recall)


def answers(output, features, tokenizer, longest=6):
    start_logits, end_logits = output.predictions
    texts = []
    for ids, s, e in zip(features["input_ids"], start_logits, end_logits):
        begin = int(np.argmax(s[:len(ids)]))
        end = begin + int(np.argmax(e[begin:min(begin + longest, len(ids))]))
        texts.append(tokenizer.decode(ids[begin:end + 1]))
    return texts


def main():
    args = parse_args()
    set_seed(args.seed)
    rng = random.Random(args.seed)
    rows = [notice(rng) for _ in range(args.n + args.test)]
    tokenizer = build_tokenizer(rows)
    train_rows, test_rows = rows[:args.n], rows[args.n:]
    train_ds, test_ds = prepare(train_rows, tokenizer), prepare(test_rows, tokenizer)
    lengths = [len(x) for x in train_ds["input_ids"]]
    print(f"{len(train_ds)} train, {len(test_ds)} test, {min(lengths)} to {max(lengths)} tokens")

    model = BertForQuestionAnswering(BertConfig(
        vocab_size=len(tokenizer), hidden_size=args.hidden, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=2 * args.hidden, max_position_embeddings=128))
    training_args = TrainingArguments(
        "out/timetable", num_train_epochs=args.epochs, learning_rate=args.lr, warmup_ratio=0.1,
        per_device_train_batch_size=args.batch_size, per_device_eval_batch_size=32,
        group_by_length=True, logging_steps=47, save_strategy="no", report_to="none", seed=args.seed,
        use_cpu=True)
    trainer = Trainer(model=model, args=training_args, train_dataset=train_ds, eval_dataset=test_ds,
                      data_collator=DataCollatorWithPadding(tokenizer))
    trainer.train()

    guesses = answers(trainer.predict(test_ds), test_ds, tokenizer)
    truths = [r["answer"] for r in test_rows]
    for row, guess in list(zip(test_rows, guesses))[:3]:
        print(f"  {row['question']}?  {guess}  ({row['answer']})")
    print(f"exact match {np.mean([g == t for g, t in zip(guesses, truths)]):.3f}  "
          f"F1 {np.mean([f1(g, t) for g, t in zip(guesses, truths)]):.3f}")


if __name__ == "__main__":
    main()
