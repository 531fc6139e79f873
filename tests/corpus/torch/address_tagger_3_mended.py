import random
import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
rnd = random.Random(7)
TAGS = ["O", "NAME", "CITY", "STREET"]
SYL = ["ka", "lo", "mir", "ten", "va", "dos", "rin", "pel", "shu", "gra", "bo", "nex"]


def coin(n, suffix):
    return sorted({"".join(rnd.choices(SYL, k=rnd.randint(2, 3))) + suffix for _ in range(n)})


NAMES, CITIES, STREETS = coin(60, "son"), coin(60, "burg"), coin(60, "weg")
TEMPLATES = ["please send the parcel for {N} to {S} in {C}", "{N} lives in {C} near {S}",
             "the office in {C} moved to {S} says {N}", "ask {N} about the shop on {S}",
             "deliver it to {S} {C} today", "from {C} comes a letter for {N} and {N}"]


def sentence():
    words, tags = [], []
    for w in rnd.choice(TEMPLATES).split():
        kind = {"{N}": ("NAME", NAMES), "{C}": ("CITY", CITIES), "{S}": ("STREET", STREETS)}.get(w)
        words.append(rnd.choice(kind[1]) if kind else w)
        tags.append(TAGS.index(kind[0]) if kind else 0)
    return {"tokens": words, "ner_tags": tags}


rows = [sentence() for _ in range(900)]
core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.train_from_iterator([" ".join(r["tokens"]) for r in rows],
                         trainers.WordPieceTrainer(vocab_size=140, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
core.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                              cls_token="[CLS]", sep_token="[SEP]")


def encode(row):
    enc = tok(row["tokens"], is_split_into_words=True, truncation=True, max_length=64)
    word_ids = enc.word_ids()
    tags = row["ner_tags"]
    enc["labels"] = [-100 if w is None else tags[w] for w in word_ids]
    return enc


full = Dataset.from_list(rows).map(encode, remove_columns=["tokens", "ner_tags"])
train_ds, eval_ds = full.select(range(750)), full.select(range(750, 900))


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    keep = p.label_ids != -100
    return {"token_acc": float((pred[keep] == p.label_ids[keep]).mean())}


model = BertForTokenClassification(BertConfig(
    vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS)))
trainer = Trainer(
    model=model,
    args=TrainingArguments("out", num_train_epochs=6, per_device_train_batch_size=32, learning_rate=1e-3,
                           eval_strategy="epoch", save_strategy="no", logging_steps=20, report_to=[],
                           use_cpu=True, disable_tqdm=True, seed=7),
    train_dataset=train_ds, eval_dataset=eval_ds,
    data_collator=DataCollatorForTokenClassification(tok), compute_metrics=compute_metrics)
trainer.train()

logits = trainer.predict(eval_ds).predictions
good = total = 0
for row, out in zip(rows[750:], logits.argmax(-1)):
    ids = tok(row["tokens"], is_split_into_words=True).word_ids()
    for w, tag in enumerate(row["ner_tags"]):
        if tag:
            good += int(out[ids.index(w)] == tag)
            total += 1
print("eval:", {k: round(v, 4) for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_token_acc")})
print(f"entity words tagged correctly: {good / total:.3f}")
