"""Tag plant and place names in field notes; word pieces are learned from the notes themselves."""
import random
import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers, processors
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(6)
R = random.Random(6)
SYL = "ar bel cor dis el fen gal hor il jun kes lor mir nol or pel quin ras sor tel ur vin wes yar zel".split()
GENUS, KIND, TOWN = ["phy", "thal", "xer", "chry"], ["alp", "mont", "litt"], ["ash", "oak", "brad", "hatch"]
LABELS = ["O", "B-PLANT", "I-PLANT", "B-PLACE"]


def name(start, end):
    return R.choice(start) + "".join(R.choice(SYL) for _ in range(R.randint(1, 3))) + end


PLAIN = ("we found saw near the old with some many few under rocks by water wet dry path after rain today "
         "growing well again along bank and small patch of").split()


def note():
    words, tags = [], []
    for _ in range(R.randint(3, 5)):
        for _ in range(R.randint(1, 4)):
            words.append(R.choice(PLAIN)); tags.append(0)
        k = R.random()
        if k < 0.4:
            words.append(name(GENUS, "ium")); tags.append(1)
        elif k < 0.65:
            words += [name(GENUS, "ium"), name(KIND, "ensis")]; tags += [1, 2]
        else:
            words.append(name(TOWN, "ford")); tags.append(3)
    return words, tags


train_raw = [note() for _ in range(2000)]
test_raw = [note() for _ in range(300)]

raw = Tokenizer(models.WordPiece(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator((" ".join(w) for w, _ in train_raw),
                        trainers.WordPieceTrainer(vocab_size=260, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
                                                  show_progress=False))
raw.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                              sep_token="[SEP]")


def prepare(words, tags):
    enc = tok(words, is_split_into_words=True, truncation=True, max_length=96)
    labels = [-100]
    for t in tags:
        labels.append(t)
    labels = labels[:len(enc["input_ids"]) - 1]
    labels += [-100] * (len(enc["input_ids"]) - len(labels))
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


train = [prepare(*x) for x in train_raw]
test = [prepare(*x) for x in test_raw]
print("pieces per word", np.mean([len(f["input_ids"]) - 2 for f in train]) / np.mean([len(w) for w, _ in train_raw]))


def metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    ent = keep & (gold > 0)
    tp = ((pred == gold) & ent).sum()
    prec = tp / max(1, (keep & (pred > 0)).sum())
    rec = tp / max(1, ent.sum())
    return {"acc": float((pred == gold)[keep].mean()), "f1": float(2 * prec * rec / max(1e-9, prec + rec))}


model = BertForTokenClassification(BertConfig(
    vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=100, num_labels=len(LABELS), hidden_dropout_prob=0.1))
args = TrainingArguments(
    output_dir="out", num_train_epochs=6, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, learning_rate=1e-3, warmup_ratio=0.1, eval_strategy="epoch", logging_steps=60,
    save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
tr = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics,
             data_collator=DataCollatorForTokenClassification(tok))
tr.train()
print(tr.evaluate())
