"""Named entities in lost-property reports (CoNLL format, one word and its tag per line).

Trains a small BERT with a WordPiece vocabulary learnt on the reports themselves.
"""
import io
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

LABELS = ["O", "B-ITEM", "I-ITEM", "B-LINE", "I-LINE", "B-STOP", "I-STOP"]
LABEL2ID = {name: i for i, name in enumerate(LABELS)}

ITEMS = ["umbrella", "leather wallet", "school bag", "silver earring", "reading glasses", "violin case", "scarf",
         "bunch of keys", "lunch box", "phone", "walking stick", "winter gloves"]
LINES = ["tram 4", "tram 11", "bus 62", "night bus 7", "harbour ferry", "airport shuttle", "bus 9"]
STOPS = ["central station", "old mill", "market square", "quayside", "hill road", "botanic gardens", "university",
         "north gate"]
PATTERNS = ["i left my {ITEM} on {LINE} near {STOP}", "a {ITEM} was found at {STOP}",
            "somebody handed in a {ITEM} after riding {LINE}", "did anyone see a {ITEM} between {STOP} and {STOP} ?",
            "{LINE} driver reports one {ITEM}", "please call me about the {ITEM} lost at {STOP} this morning",
            "lost : {ITEM} , {LINE} , around noon", "getting off {LINE} at {STOP} i forgot a {ITEM}"]


def generate_conll(n, rng):
    """The export of the annotation tool: word TAB tag, an empty line after each report."""
    out = io.StringIO()
    for _ in range(n):
        for piece in rng.choice(PATTERNS).split():
            kind = piece.strip("{}")
            if piece.startswith("{"):
                words = rng.choice({"ITEM": ITEMS, "LINE": LINES, "STOP": STOPS}[kind]).split()
                for k, word in enumerate(words):
                    out.write(f"{word}\t{'I' if k else 'B'}-{kind}\n")
            else:
                out.write(f"{piece}\tO\n")
        out.write("\n")
    return out.getvalue()


def read_conll(stream):
    """Yields words and label ids; tags outside of the scheme are left out of the loss."""
    words, tags = [], []
    for line in stream:
        if not line.strip():
            if words:
                yield {"words": words, "tags": tags}
            words, tags = [], []
            continue
        word, tag = line.split("\t")
        words.append(word)
        tags.append(LABEL2ID.get(tag, -100))
    if words:
        yield {"words": words, "tags": tags}


def train_tokenizer(sentences, size=160):
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.train_from_iterator(sentences, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]")


def align(batch, tokenizer):
    enc = tokenizer(batch["words"], is_split_into_words=True)
    enc["labels"] = []
    for i, tags in enumerate(batch["tags"]):
        row, previous = [], None
        for word in enc.word_ids(i):
            row.append(-100 if word is None or word == previous else tags[word])
            previous = word
        enc["labels"].append(row)
    return enc


def spans(tags):
    found, start = set(), None
    for i, tag in enumerate(list(tags) + ["O"]):
        if start is not None and not tag.startswith("I-"):
            found.add((start, i, tags[start][2:]))
            start = None
        if tag.startswith("B-"):
            start = i
    return found


def entity_scores(p):
    hits = guessed = gold = 0
    for logits, labels in zip(p.predictions, p.label_ids):
        kept = labels != -100
        truth = spans([LABELS[k] for k in labels[kept]])
        guess = spans([LABELS[k] for k in np.argmax(logits[kept], -1)])
        hits, guessed, gold = hits + len(truth & guess), guessed + len(guess), gold + len(truth)
    precision, recall = hits / max(guessed, 1), hits / max(gold, 1)
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / max(precision + recall, 1e-9)}


def main(seed=23):
    set_seed(seed)
    rng = random.Random(seed)
    reports = list(read_conll(io.StringIO(generate_conll(1000, rng))))
    tokenizer = train_tokenizer([" ".join(r["words"]) for r in reports])
    data = Dataset.from_list(reports).train_test_split(test_size=0.2, seed=seed)
    data = data.map(lambda b: align(b, tokenizer), batched=True, remove_columns=["words", "tags"])
    print(f"{len(data['train'])} reports for training, vocabulary of {len(tokenizer)}")

    model = BertForTokenClassification(BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=64, num_labels=len(LABELS), id2label=dict(enumerate(LABELS)), label2id=LABEL2ID))
    trainer = Trainer(
        model=model,
        args=TrainingArguments("out/lostfound", num_train_epochs=8, learning_rate=1e-3, warmup_ratio=0.1,
                               per_device_train_batch_size=16, per_device_eval_batch_size=50, eval_strategy="epoch",
                               logging_steps=25, save_strategy="no", report_to="none", use_cpu=True, seed=seed),
        train_dataset=data["train"], eval_dataset=data["test"],
        data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=entity_scores)
    trainer.train()
    scores = trainer.evaluate()
    print({k: round(v, 3) for k, v in scores.items() if k in ("eval_loss", "eval_precision", "eval_recall", "eval_f1")})


if __name__ == "__main__":
    main()
