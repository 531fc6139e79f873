"""Tag people, places and companies in short news lines with a small DistilBERT."""
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (DataCollatorForTokenClassification, DistilBertConfig,
                          DistilBertForTokenClassification, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(3)
rng = random.Random(3)

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "B-ORG", "I-ORG"]
tag2id = {t: i for i, t in enumerate(TAGS)}
IGNORE = -100

FIRST = "Anna Boris Clara David Elena Farid Greta Hugo Irina Jonas".split()
LAST = "Meyer Novak Okafor Petrov Quist Rossi Santos Tanaka Ueda Vance".split()
CITY = "Lisbon Oslo Nairobi Quito Hanoi Dublin Tunis Riga Lima Perth".split()
FIRM = "Acme Borealis Cobex Dynacor Entera Fluxon".split()
SUFFIX = "Corp Ltd Group".split()
PATTERNS = [
    "{P} flew from {L} to {L} on Monday", "{O} opened an office in {L}",
    "{P} , who runs {O} , was born in {L}", "shares of {O} fell after {P} resigned",
    "in {L} the weather stayed calm", "{P} met {P} near {L}", "{O} will buy {O} next year",
]


def make_row():
    words, tags = [], []
    for piece in rng.choice(PATTERNS).split():
        if piece == "{P}":
            words += [rng.choice(FIRST), rng.choice(LAST)]
            tags += ["B-PER", "I-PER"]
        elif piece == "{L}":
            words.append(rng.choice(CITY))
            tags.append("B-LOC")
        elif piece == "{O}":
            words += [rng.choice(FIRM), rng.choice(SUFFIX)]
            tags += ["B-ORG", "I-ORG"]
        else:
            words.append(piece)
            tags.append("O")
    return {"words": words, "tags": tags}


def build_tokenizer(rows):
    tk = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tk.normalizer = normalizers.BertNormalizer(lowercase=True)
    tk.pre_tokenizer = pre_tokenizers.Whitespace()
    tk.train_from_iterator((" ".join(r["words"]) for r in rows),
                           trainers.WordPieceTrainer(vocab_size=140, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tk.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tk, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]", model_max_length=64)


rows = [make_row() for _ in range(2200)]
tokenizer = build_tokenizer(rows[:1800])


def clean(tag):
    """Tags come from several annotators, some with stray blanks."""
    return tag2id.get(tag.strip().lower(), IGNORE)


def align(batch):
    enc = tokenizer(batch["words"], is_split_into_words=True, truncation=True)
    enc["labels"] = []
    for i, tags in enumerate(batch["tags"]):
        last, row = None, []
        for w in enc.word_ids(i):
            row.append(IGNORE if w is None or w == last else clean(tags[w]))
            last = w
        enc["labels"].append(row)
    return enc


def metrics(p):
    guess = p.predictions.argmax(-1)
    keep = p.label_ids != IGNORE
    g, y = guess[keep], p.label_ids[keep]
    hit = int(((g == y) & (y > 0)).sum())
    prec, rec = hit / max(1, int((g > 0).sum())), hit / max(1, int((y > 0).sum()))
    return {"precision": prec, "recall": rec, "f1": 2 * prec * rec / max(1e-9, prec + rec)}


data = Dataset.from_list(rows).map(align, batched=True, remove_columns=["words", "tags"])
config = DistilBertConfig(vocab_size=len(tokenizer), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                          max_position_embeddings=64, num_labels=len(TAGS), pad_token_id=0,
                          id2label=dict(enumerate(TAGS)), label2id=tag2id)
trainer = Trainer(
    model=DistilBertForTokenClassification(config),
    args=TrainingArguments("out_tags", num_train_epochs=4, per_device_train_batch_size=32, learning_rate=1e-3,
                           logging_steps=40, eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True),
    train_dataset=data.select(range(1800)), eval_dataset=data.select(range(1800, 2200)),
    data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=metrics)
trainer.train()
print({k: round(float(v), 4) for k, v in trainer.evaluate().items()})
