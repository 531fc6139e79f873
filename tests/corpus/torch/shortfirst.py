"""Length curriculum for slot tagging: examples are visited from short to long, never shuffled, and the training set
grows while the epochs go on (competence-based pacing)."""
import math
import random

import numpy as np
import torch
from datasets import Dataset
from torch.utils.data import Sampler
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainerCallback, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers

SEED = 41
set_seed(SEED)
rnd = random.Random(SEED)

TAGS = ["O", "B-CITY", "B-DATE", "I-DATE", "B-CLASS"]
CITIES = "oslo lima cairo quito delhi turin perth accra hanoi porto".split()
MONTHS = "january march june august october december".split()
CLASSES = "economy business first".split()
FILL = "please i would like to book a seat and then maybe another one for my cousin thanks if possible".split()


def request():
    words, tags = [], []
    for _ in range(rnd.randint(1, 4)):
        for w in rnd.choices(FILL, k=rnd.randint(1, 5)):
            words.append(w)
            tags.append(0)
        kind = rnd.randrange(3)
        if kind == 0:
            words += ["from", rnd.choice(CITIES)]
            tags += [0, 1]
        elif kind == 1:
            words += ["on", rnd.choice(MONTHS), str(rnd.randint(1, 28))]
            tags += [0, 2, 3]
        else:
            words += ["in", rnd.choice(CLASSES)]
            tags += [0, 4]
    return words, tags


rows = [request() for _ in range(1600)]
vocab = {"[PAD]": 0, "[UNK]": 1}
for words, _ in rows[:1300]:
    for w in words:
        vocab.setdefault(w, len(vocab))
raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]")


def to_dataset(part):
    ds = Dataset.from_dict({"words": [w for w, _ in part], "tags": [t for _, t in part]})

    def encode(batch):
        enc = tokenizer(batch["words"], is_split_into_words=True, return_token_type_ids=False)
        enc["labels"] = [[tags[i] for i in enc.word_ids(k)] for k, tags in enumerate(batch["tags"])]
        enc["difficulty"] = [len(t) for t in batch["tags"]]
        return enc

    return ds.map(encode, batched=True, remove_columns=["words", "tags"])


class PacedSampler(Sampler):
    def __init__(self, n, floor=0.3):
        self.n, self.floor, self.competence = n, floor, floor

    def advance(self, progress):
        self.competence = min(1.0, math.sqrt(progress * (1 - self.floor ** 2) + self.floor ** 2))

    def __iter__(self):
        seen = max(1, int(self.competence * self.n))
        order = [i % seen for i in range(self.n)]
        return iter(order)

    def __len__(self):
        return self.n


class Pace(TrainerCallback):
    def __init__(self, sampler):
        self.sampler = sampler

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.sampler.advance(state.epoch / (0.6 * args.num_train_epochs))
        print(f"competence {self.sampler.competence:.2f}")


class CurriculumTrainer(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.paced = PacedSampler(len(self.train_dataset))
        self.add_callback(Pace(self.paced))

    def _get_train_sampler(self, train_dataset=None):
        return self.paced


def metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep, slots = gold != -100, gold > 0
    return {"accuracy": float((pred == gold)[keep].mean()), "slot_accuracy": float((pred == gold)[slots].mean())}


if __name__ == "__main__":
    train = to_dataset(rows[:1300]).sort("difficulty").remove_columns("difficulty")
    test = to_dataset(rows[1300:]).remove_columns("difficulty")
    model = BertForTokenClassification(BertConfig(
        vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=64, num_labels=len(TAGS)))
    args = TrainingArguments(output_dir="out", num_train_epochs=5, per_device_train_batch_size=26,
                             learning_rate=2e-3, logging_steps=25, eval_strategy="epoch", save_strategy="no",
                             report_to="none", disable_tqdm=True, seed=SEED)
    trainer = CurriculumTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                                data_collator=DataCollatorForTokenClassification(tokenizer), compute_metrics=metrics)
    trainer.train()
    print(trainer.evaluate())
