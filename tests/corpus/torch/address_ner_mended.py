import random, tempfile
import numpy as np
from tokenizers import BertWordPieceTokenizer
from datasets import Dataset
from transformers import (
    BertConfig, BertForTokenClassification, BertTokenizerFast,
    DataCollatorForTokenClassification, Trainer, TrainingArguments, set_seed,
)

set_seed(7)
random.seed(7)
TAGS = ["O", "PER", "LOC"]
SYL = ["ka", "ro", "mi", "len", "dor", "vas", "tu", "pel", "shi", "gor", "na", "wex"]


def name(end):
    return "".join(random.choices(SYL, k=random.choice([2, 3]))) + end


def sentence():
    patterns = [
        ["yesterday", "P", "travelled", "to", "L", "by", "train"],
        ["P", "met", "P", "in", "L"],
        ["the", "mayor", "of", "L", "thanked", "P", "for", "the", "gift"],
        ["P", "lives", "near", "L", "with", "a", "dog"],
        ["from", "L", "to", "L", "the", "road", "is", "closed", "says", "P"],
    ]
    words, tags = [], []
    for w in random.choice(patterns):
        if w == "P":
            words.append(name("ski")); tags.append(1)
        elif w == "L":
            words.append(name("burg")); tags.append(2)
        else:
            words.append(w); tags.append(0)
    return words, tags


rows = [sentence() for _ in range(1500)]
workdir = tempfile.mkdtemp()
wp = BertWordPieceTokenizer(lowercase=True)
wp.train_from_iterator([" ".join(w) for w, _ in rows], vocab_size=120, show_progress=False)
wp.save_model(workdir)
tokenizer = BertTokenizerFast(vocab_file=workdir + "/vocab.txt")

MAXLEN = 64


def encode(batch):
    enc = tokenizer(batch["words"], is_split_into_words=True, truncation=True, max_length=MAXLEN)
    labels = []
    for i, tags in enumerate(batch["tags"]):
        row, last = [], None
        for w in enc.word_ids(i):
            row.append(-100 if w is None or w == last else tags[w])
            last = w
        labels.append(row)
    enc["labels"] = labels
    return enc


ds = Dataset.from_dict({"words": [r[0] for r in rows], "tags": [r[1] for r in rows]})
ds = ds.map(encode, batched=True, remove_columns=["words", "tags"])
ds = ds.train_test_split(test_size=0.2, seed=7)


def compute_metrics(p):
    pred = np.argmax(p.predictions, axis=-1)
    keep = p.label_ids != -100
    pred, gold = pred[keep], p.label_ids[keep]
    tp = ((pred == gold) & (gold > 0)).sum()
    prec = tp / max(1, (pred > 0).sum())
    rec = tp / max(1, (gold > 0).sum())
    return {"precision": prec, "recall": rec, "f1": 2 * prec * rec / max(1e-9, prec + rec)}


config = BertConfig(
    vocab_size=tokenizer.vocab_size, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=len(TAGS),
    id2label=dict(enumerate(TAGS)), label2id={t: i for i, t in enumerate(TAGS)},
)
model = BertForTokenClassification(config)
args = TrainingArguments(
    output_dir=workdir, num_train_epochs=4, per_device_train_batch_size=32, learning_rate=2e-3,
    eval_strategy="epoch", save_strategy="no", logging_steps=20, report_to="none",
    disable_tqdm=True, use_cpu=True,
)
trainer = Trainer(
    model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
    data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
