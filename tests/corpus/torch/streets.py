"""Tag persons, streets and towns in address lines."""
import random
import numpy as np
from datasets import Dataset, DatasetDict
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (DataCollatorForTokenClassification, DistilBertConfig, DistilBertForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(21)
random.seed(21)
tags = ["O", "B-PER", "I-PER", "B-STR", "I-STR", "B-TOWN"]
first = "anna bert carla dirk elsa frank greta hugo ina jan".split()
last = "becker meyer schulz wolf krause lang berg park hill".split()
towns = "berlin bremen essen ulm bonn kiel lang berg".split()
roads = "park hill mill church station rose lake".split()
kinds = "street road lane".split()


def line():
    toks, lab = [], []
    def add(ws, ls):
        toks.extend(ws), lab.extend(tags.index(x) for x in ls)
    add(random.choice([["send", "it", "to"], ["parcel", "for"], ["please", "visit"]]), ["O"] * 3)
    del lab[len(toks):]
    add([random.choice(first), random.choice(last)], ["B-PER", "I-PER"])
    if random.random() < 0.8:
        add(["at", str(random.randint(1, 99))], ["O", "O"])
        add([random.choice(roads), random.choice(kinds)], ["B-STR", "I-STR"])
    add(["in", random.choice(towns)], ["O", "B-TOWN"])
    return {"tokens": toks, "ner_tags": lab}


ds = DatasetDict({"train": Dataset.from_list([line() for _ in range(1500)]),
                  "test": Dataset.from_list([line() for _ in range(300)])})

t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
t.normalizer = normalizers.Lowercase()
t.pre_tokenizer = pre_tokenizers.Whitespace()
t.train_from_iterator((" ".join(x) for x in ds["train"]["tokens"]), trainers.WordPieceTrainer(
    vocab_size=150, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def align(batch):
    enc = tokenizer(batch["tokens"], is_split_into_words=True, truncation=True, return_token_type_ids=False)
    enc["labels"] = []
    for i, word_tags in enumerate(batch["ner_tags"]):
        prev, row = None, []
        for w in enc.word_ids(i):
            row.append(-100 if w is None or w == prev else word_tags[w])
            prev = w
        enc["labels"].append(row)
    return enc


ds = ds.map(align, batched=True, remove_columns=["tokens", "ner_tags"])
model = DistilBertForTokenClassification(DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=64,
    num_labels=len(tags), id2label=dict(enumerate(tags)), label2id={x: i for i, x in enumerate(tags)}))


def metrics(p):
    pred, keep = np.argmax(p.predictions, axis=2), p.label_ids != -100
    ent = keep & (p.label_ids != 0)
    return {"accuracy": float((pred == p.label_ids)[keep].mean()),
            "entity_recall": float((pred == p.label_ids)[ent].mean())}


trainer = Trainer(
    model, TrainingArguments("ner", learning_rate=1e-3, num_train_epochs=4, per_device_train_batch_size=32,
                             eval_strategy="epoch", logging_steps=25, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=ds["train"], eval_dataset=ds["test"], compute_metrics=metrics,
    data_collator=DataCollatorForTokenClassification(tokenizer))
trainer.train()
print(trainer.evaluate())
