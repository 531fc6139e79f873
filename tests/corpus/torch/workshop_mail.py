"""Sortiert Werkstattpost nach Abteilung."""
import random
from collections import Counter

import numpy as np
from datasets import ClassLabel, Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

SEED = 17
set_seed(SEED)
random.seed(SEED)

NOUNS = {
    "tischlerei": "Hobel Leim Furnier Eiche Schublade Zwinge Maserung Dielen".split(),
    "schlosserei": "Amboss Schweissnaht Bolzen Gitter Feile Scharnier Stahl Rohr".split(),
    "malerei": "Pinsel Lack Grundierung Farbton Tapete Rolle Spachtel Anstrich".split(),
    "elektro": "Kabel Sicherung Schalter Lampe Dose Leitung Zange Klemme".split(),
}
PLACES = "Keller Werkstatt Hof Halle Lager Treppe Anbau Dachboden".split()
VERBS = "bestellen pruefen liefern tauschen abholen reparieren zeigen reinigen".split()
ADJ = "neu alt kaputt dringend klein gross sauber locker".split()


def mail(dept):
    a, b = random.sample(NOUNS[dept], 2)
    if random.random() < 0.25:
        b = random.choice(random.choice(list(NOUNS.values())))
    return random.choice([
        f"Guten Tag , {a} und {b} im {random.choice(PLACES)} sind {random.choice(ADJ)} , bitte {random.choice(VERBS)}",
        f"Koennen Sie {a} morgen {random.choice(VERBS)} ? Auch {b} ist {random.choice(ADJ)}",
        f"Der {a} liegt im {random.choice(PLACES)} , wir muessen noch {b} {random.choice(VERBS)}",
    ])


depts = sorted(NOUNS)
texts, labels = [], []
for _ in range(1300):
    d = random.choice(depts)
    texts.append(mail(d))
    labels.append(d)

counts = Counter(w for t in texts for w in t.split())
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(counts))}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]")

ds = Dataset.from_dict({"text": texts, "label": labels}).cast_column("label", ClassLabel(names=depts))
ds = ds.map(lambda b: tokenizer(b["text"]), batched=True).train_test_split(test_size=260, seed=SEED)


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


model = BertForSequenceClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=48, id2label=dict(enumerate(depts)), label2id={d: i for i, d in enumerate(depts)}))
args = TrainingArguments(output_dir="workshop_mail", num_train_epochs=6, per_device_train_batch_size=32,
                         learning_rate=1e-3, eval_strategy="epoch", save_strategy="no", logging_steps=30,
                         report_to="none", disable_tqdm=True, seed=SEED)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"], processing_class=tokenizer,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate()["eval_accuracy"])
