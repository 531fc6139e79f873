import tempfile

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(6)
rng = np.random.default_rng(6)
URGENT = "outage down crash blocked escalate asap".split()
CALM = "question invoice thanks feature docs whenever".split()
COMMON = [f"term{i}" for i in range(30)]
CUSTOMERS = [f"cust{i}" for i in range(150)]


def write_ticket(urgent):
    flavour = URGENT if urgent else CALM
    other = CALM if urgent else URGENT
    words = list(rng.choice(COMMON, size=6))
    words += list(rng.choice(flavour, size=3)) + list(rng.choice(other, size=1))
    words += list(rng.choice(CUSTOMERS, size=3))
    rng.shuffle(words)
    return " ".join(words)


def make_tickets(n):
    truth = rng.integers(0, 2, size=n)
    texts = [write_ticket(t) for t in truth]
    filed = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    return texts, filed


def build_tokenizer(texts):
    tok = Tokenizer(WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = Whitespace()
    tok.train_from_iterator(texts, WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


class Tickets(torch.utils.data.Dataset):
    def __init__(self, tokenizer, texts, labels):
        self.enc, self.labels = tokenizer(list(texts), return_token_type_ids=False), labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {**{k: v[i] for k, v in self.enc.items()}, "labels": int(self.labels[i])}


def fresh_model(vocab_size):
    return BertForSequenceClassification(BertConfig(
        vocab_size=vocab_size, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=40, num_labels=2, pad_token_id=0,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


texts, labels = make_tickets(800)
late_texts, late_labels = make_tickets(800)
tokenizer = build_tokenizer(texts)
texts = np.array(texts)
late = Tickets(tokenizer, late_texts, late_labels)
model = fresh_model(len(tokenizer))
cv, later = [], []
folds = StratifiedKFold(n_splits=4, shuffle=True, random_state=6)
for k, (tr, te) in enumerate(folds.split(texts, labels)):
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=6, per_device_train_batch_size=16,
                             learning_rate=1e-3, save_strategy="no", report_to="none", use_cpu=True,
                             logging_strategy="epoch", disable_tqdm=True, seed=6)
    trainer = Trainer(model=model, args=args, train_dataset=Tickets(tokenizer, texts[tr], labels[tr]),
                      eval_dataset=Tickets(tokenizer, texts[te], labels[te]), compute_metrics=accuracy,
                      data_collator=DataCollatorWithPadding(tokenizer))
    trainer.train()
    cv.append(trainer.evaluate()["eval_accuracy"])
    later.append(trainer.evaluate(late)["eval_accuracy"])
    print(f"fold {k}: accuracy {cv[-1]:.3f}  tickets of next month {later[-1]:.3f}")

print(f"cross-validated accuracy {np.mean(cv):.3f}   majority {np.bincount(labels).max() / len(labels):.3f}")
print(f"accuracy on next month's tickets {np.mean(later):.3f}")
