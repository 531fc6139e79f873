import numpy as np
import torch
from torch import nn
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, normalizers

set_seed(31)
rng = np.random.default_rng(31)
FOODS = [["olive", "oil"], ["brown", "sugar"], ["flour"], ["sea", "salt"], ["butter"], ["red", "onion"]]
PLAIN = "first heat the pan then stir slowly and add some more of it until soft brown or red as you like while it rests".split()
LABELS = ["O", "B-FOOD", "I-FOOD"]

letters = "abcdefghijklmnopqrstuvwxyz"
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(set(PLAIN)) + ["oil", "sug", "##ar", "flo", "##ur", "ol", "##ive",
          "salt", "sea", "but", "##ter", "on", "##ion"]
backend = Tokenizer(models.WordPiece({p: i for i, p in enumerate(dict.fromkeys(pieces))}, unk_token="[UNK]"))
backend.normalizer = normalizers.Lowercase()
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def sentence():
    words, tags = [], []
    n_food = rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2])
    for part in range(n_food + 1):
        chunk = list(rng.choice(PLAIN, rng.integers(4, 12)))
        words += chunk
        tags += [0] * len(chunk)
        if part < n_food:
            food = FOODS[rng.integers(len(FOODS))]
            words += food
            tags += [1] + [2] * (len(food) - 1)
    return [str(w) for w in words], tags


def encode(words, tags):
    enc = tokenizer(words, is_split_into_words=True)
    labels, previous = [], None
    for w in enc.word_ids():
        labels.append(-100 if w is None or w == previous else tags[w])
        previous = w
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


train = [encode(*sentence()) for _ in range(900)]
valid = [encode(*sentence()) for _ in range(200)]
freq = np.bincount([l for r in train for l in r["labels"] if l >= 0], minlength=3)
weights = torch.tensor(np.sqrt(freq.max() / freq), dtype=torch.float32)
print("label counts", freq.tolist(), "weights", weights.tolist())


class TaggingTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits.view(-1, 3), labels.view(-1), weight=weights, ignore_index=-100)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    pred, gold = pred[keep], gold[keep]
    tp = ((pred == gold) & (gold > 0)).sum()
    precision, recall = tp / max(1, (pred > 0).sum()), tp / max(1, (gold > 0).sum())
    return {"precision": float(precision), "recall": float(recall),
            "f1": float(2 * precision * recall / max(1e-9, precision + recall))}


model = BertForTokenClassification(BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2,
                                              num_attention_heads=4, intermediate_size=128,
                                              max_position_embeddings=128, num_labels=3,
                                              id2label=dict(enumerate(LABELS))))
args = TrainingArguments("ingredient_spans_out", num_train_epochs=5, learning_rate=1e-3, group_by_length=True,
                         per_device_train_batch_size=16, per_device_eval_batch_size=50, eval_strategy="epoch",
                         save_strategy="no", logging_steps=40, report_to="none", use_cpu=True)
trainer = TaggingTrainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                         data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
