# Named-entity tagging of short press notes; BERT-style encoder trained from scratch.
import random

import numpy as np
import torch
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForTokenClassification, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

TAGS = ["O", "PER", "LOC", "ORG"]
SYL = "ba be bi ko ku la lo mi mo na ne ra ri sa so ta ti va vo zu".split()
TEMPLATES = [
    "{ADV} {PER} met {PER} in {LOC}",
    "{ORG} opened a new office in {LOC} , said {PER} {ADV}",
    "the head of {ORG} , {PER} , flew {ADV} from {LOC} to {LOC}",
    "{ADV} shares of {ORG} fell after {ORG} left the market of {LOC}",
    "{PER} joined {ORG} {ADV} and moved to {LOC}",
    "{ADV} in {LOC} the people of {ORG} welcomed {PER} again",
]
ADVERBS = ("yesterday,last week,unexpectedly,on monday,without explanation,quietly,two months ago,"
           "according to documents,as announced earlier").split(",")
MAX_LEN = 64


def entity(kind, rnd):
    stem = "".join(rnd.choice(SYL) for _ in range(rnd.randint(2, 3)))
    ending = {"PER": ["nov", "sen"], "LOC": ["grad", "ville"], "ORG": ["corp", "tech"]}[kind]
    name = stem + (rnd.choice(ending) if rnd.random() < 0.7 else "")
    if kind == "PER" and rnd.random() < 0.5:
        return ["".join(rnd.choice(SYL) for _ in range(2)), name]
    return [name]


def sentence(rnd):
    words, tags = [], []
    for part in rnd.choice(TEMPLATES).split():
        if part == "{ADV}":
            adverb = rnd.choice(ADVERBS).split() if rnd.random() < 0.7 else []
            words += adverb
            tags += [0] * len(adverb)
        elif part.startswith("{"):
            kind = part[1:-1]
            ent = entity(kind, rnd)
            words += ent
            tags += [TAGS.index(kind)] * len(ent)
        else:
            words.append(part)
            tags.append(0)
    return words, tags


def build_tokenizer(sents):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok.train_from_iterator([" ".join(w) for w, _ in sents], trainers.WordPieceTrainer(
        vocab_size=170, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


class NewsDataset(torch.utils.data.Dataset):
    def __init__(self, sents, tokenizer):
        self.items = []
        for words, tags in sents:
            enc = tokenizer(words, is_split_into_words=True, truncation=True,
                            padding="max_length", max_length=MAX_LEN)
            labels = [-100] + tags[: MAX_LEN - 2]
            labels += [-100] * (MAX_LEN - len(labels))
            self.items.append({"input_ids": enc["input_ids"],
                               "attention_mask": enc["attention_mask"], "labels": labels})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {k: torch.tensor(v) for k, v in self.items[i].items()}


def compute_metrics(p):
    pred = np.argmax(p.predictions, -1)
    keep = p.label_ids != -100
    y, yhat = p.label_ids[keep], pred[keep]
    return {"accuracy": float((y == yhat).mean()),
            "entity_f1": f1_score(y, yhat, labels=[1, 2, 3], average="macro")}


@torch.no_grad()
def tag_words(model, tokenizer, words):
    """One tag per word: the prediction at the word's first piece."""
    enc = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    pred = model(**enc).logits[0].argmax(-1).tolist()
    first = {}
    for pos, w in enumerate(enc.word_ids()):
        if w is not None:
            first.setdefault(w, pred[pos])
    return [first[i] for i in range(len(words))]


if __name__ == "__main__":
    set_seed(3)
    rnd = random.Random(3)
    train_sents = [sentence(rnd) for _ in range(1200)]
    test_sents = [sentence(rnd) for _ in range(300)]
    tokenizer = build_tokenizer(train_sents)
    train_ds, test_ds = NewsDataset(train_sents, tokenizer), NewsDataset(test_sents, tokenizer)
    model = BertForTokenClassification(BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=len(TAGS)))
    args = TrainingArguments(
        output_dir="out/press", num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=100, learning_rate=1.5e-3, warmup_steps=30, weight_decay=0.01,
        eval_strategy="epoch", logging_steps=40, save_strategy="no", report_to="none",
        use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                      compute_metrics=compute_metrics)
    trainer.train()
    m = trainer.evaluate()
    model.eval()
    gold = [t for _, tags in test_sents for t in tags]
    found = [t for words, _ in test_sents for t in tag_words(model, tokenizer, words)]
    word_f1 = f1_score(gold, found, labels=[1, 2, 3], average="macro")
    print(f"held-out pieces: accuracy {m['eval_accuracy']:.3f}  entity macro-F1 {m['eval_entity_f1']:.3f}")
    print(f"held-out words: entity macro-F1 {word_f1:.3f}  (all-O tagger 0.000)")
