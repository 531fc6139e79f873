# Clinic notes -> medication, dose and symptom spans (BIO), BERT token classification.
import itertools
import random

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

SEED = 13
set_seed(SEED)
rng = random.Random(SEED)

TAGS = ["O", "B-DRUG", "I-DRUG", "B-DOSE", "I-DOSE", "B-SYMPTOM", "I-SYMPTOM"]
TAG2ID = {t: i for i, t in enumerate(TAGS)}

# made-up but drug-like names; some of them are kept for the test notes only
heads = ["ami", "beta", "cor", "dexa", "flu", "gaba", "keto", "lora", "metro", "nova", "oxa", "pro", "rani", "sita", "vera"]
mids = ["", "lo", "ti", "pra", "meth", "vi"]
tails = ["statin", "zole", "pril", "mycin", "dipine", "sartan", "olol", "profen"]
DRUGS = ["".join(p) for p in itertools.product(heads, mids, tails)]
rng.shuffle(DRUGS)
SALTS = ["sodium", "chloride", "phosphate", "maleate"]
SYMPTOMS = ["headache", "back pain", "nausea", "shortness of breath", "itching", "swelling of the ankles", "dizziness",
            "dry cough", "chest pain", "blurred vision", "fatigue", "loss of appetite"]


def note(drugs):
    def drug():
        name = rng.choice(drugs)
        return f"{name} {rng.choice(SALTS)}" if rng.random() < 0.25 else name

    def dose():
        return f"{rng.choice([5, 10, 20, 25, 40, 75, 100, 250, 500])} {rng.choice(['mg', 'ml', 'micrograms'])}" + rng.choice(["", " daily", " twice daily"])

    patterns = [
        [("patient reports", 0), "SYMPTOM", ("since starting", 0), "DRUG", (".", 0)],
        [("started on", 0), "DRUG", "DOSE", ("for", 0), "SYMPTOM", (".", 0)],
        [("stop", 0), "DRUG", ("and continue", 0), "DRUG", "DOSE", (".", 0)],
        [("no", 0), "SYMPTOM", ("today , doing well on", 0), "DRUG", (".", 0)],
        [("increase", 0), "DRUG", ("to", 0), "DOSE", ("if", 0), "SYMPTOM", ("persists .", 0)],
        [("the follow-up is in", 0), (str(rng.randint(2, 12)), 0), ("weeks because of", 0), "SYMPTOM", (".", 0)],
    ]
    make = {"DRUG": drug, "DOSE": dose, "SYMPTOM": lambda: rng.choice(SYMPTOMS)}
    tokens, tags = [], []
    for pattern in rng.sample(patterns, rng.randint(1, 3)):
        for part in pattern:
            words = (part[0] if isinstance(part, tuple) else make[part]()).split()
            tokens += words
            if isinstance(part, tuple):
                tags += ["O"] * len(words)
            else:
                tags += [f"B-{part}"] + [f"I-{part}"] * (len(words) - 1)
    return {"tokens": tokens, "tags": [TAG2ID[t] for t in tags]}


train = Dataset.from_list([note(DRUGS[:450]) for _ in range(2400)])
test = Dataset.from_list([note(DRUGS[450:]) for _ in range(300)])

wp = Tokenizer(models.WordPiece(unk_token="[UNK]"))
wp.normalizer = normalizers.BertNormalizer(lowercase=True)
wp.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
wp.train_from_iterator((" ".join(t) for t in train["tokens"]),
                       trainers.WordPieceTrainer(vocab_size=260, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
wp.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[(t, wp.token_to_id(t)) for t in ("[CLS]", "[SEP]")])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=wp, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


def tokenize_and_label(batch):
    enc = tokenizer(batch["tokens"], is_split_into_words=True, truncation=True, max_length=96)
    labels = []
    for i, tags in enumerate(batch["tags"]):
        n = len(enc["input_ids"][i])
        labels.append((tags + [-100] * n)[:n])
    enc["labels"] = labels
    return enc


train_tok = train.map(tokenize_and_label, batched=True, remove_columns=train.column_names)
test_tok = test.map(tokenize_and_label, batched=True, remove_columns=test.column_names)

config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=96, num_labels=len(TAGS), id2label=dict(enumerate(TAGS)), label2id=TAG2ID,
                    pad_token_id=tokenizer.pad_token_id)
model = BertForTokenClassification(config)


def compute_metrics(p):
    keep = p.label_ids != -100
    return {"tag_accuracy": float((p.predictions.argmax(-1)[keep] == p.label_ids[keep]).mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments("out/clinic_ner", num_train_epochs=3, per_device_train_batch_size=32, per_device_eval_batch_size=64,
                           learning_rate=2e-3, warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch", save_strategy="no",
                           logging_strategy="epoch", report_to=[], seed=SEED, disable_tqdm=True),
    train_dataset=train_tok, eval_dataset=test_tok, compute_metrics=compute_metrics,
    data_collator=DataCollatorForTokenClassification(tokenizer),
)
trainer.train()


def spans(tags):
    found, start = set(), None
    for i, t in enumerate(list(tags) + ["O"]):
        if start is not None and not (t.startswith("I-") and t[2:] == kind):
            found.add((kind, start, i))
            start = None
        if t.startswith("B-"):
            start, kind = i, t[2:]
    return found


@torch.no_grad()
def tag_words(words):
    enc = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    ids = model(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"]).logits[0].argmax(-1).tolist()
    out = ["O"] * len(words)
    for pos, w in reversed(list(enumerate(enc.word_ids()))):
        if w is not None:
            out[w] = TAGS[ids[pos]]
    return out


model.eval()
tp = n_pred = n_gold = 0
for row in test:
    gold, pred = spans([TAGS[t] for t in row["tags"]]), spans(tag_words(row["tokens"]))
    tp, n_pred, n_gold = tp + len(gold & pred), n_pred + len(pred), n_gold + len(gold)
print(f"entity precision {tp / max(n_pred, 1):.3f}  recall {tp / n_gold:.3f}  F1 {2 * tp / (n_pred + n_gold):.3f}")
print(tag_words("started on fluprazole 20 mg daily for dry cough .".split()))
