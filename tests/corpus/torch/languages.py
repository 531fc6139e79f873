import random
import numpy as np
from datasets import Dataset, IterableDataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(1)

ALPHABET = "_abcdefghijklmnopqrstuvwxyz "
SYLLABLES = {
    "ita": ["ra", "to", "gli", "ce", "no", "li", "sa", "che"],
    "fin": ["kaa", "ly", "tii", "en", "su", "oo", "maa", "ky"],
    "ger": ["sch", "ein", "ung", "ter", "ich", "bau", "zen", "au"],
    "eng": ["the", "ing", "wh", "oo", "ly", "er", "sh", "ight"],
}
NAMES = list(SYLLABLES)
LENGTH = 32


def phrase(lang, rng):
    words = ["".join(rng.choices(SYLLABLES[lang], k=rng.randint(2, 3))) for _ in range(5)]
    return " ".join(words)[:LENGTH].ljust(LENGTH, "_")


def encode(lang, rng):
    ids = [ALPHABET.index(c) for c in phrase(lang, rng)]
    return {"input_ids": ids, "attention_mask": [int(i != 0) for i in ids], "labels": NAMES.index(lang)}


def read_corpus(per_language, seed):
    rng = random.Random(seed)
    for lang in NAMES:
        for _ in range(per_language):
            yield encode(lang, rng)


train = IterableDataset.from_generator(read_corpus, gen_kwargs={"per_language": 500, "seed": 0})
test = Dataset.from_list(list(read_corpus(100, seed=99)))


def accuracy(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": float(np.mean(guess == p.label_ids)), "guessed": np.bincount(guess, minlength=4).tolist()}


model = BertForSequenceClassification(BertConfig(
    vocab_size=len(ALPHABET), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=LENGTH, num_labels=len(NAMES)))

args = TrainingArguments(output_dir="out_languages", max_steps=375, per_device_train_batch_size=16,
                         learning_rate=1e-3, lr_scheduler_type="constant_with_warmup", warmup_steps=10,
                         logging_steps=25, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=accuracy)
trainer.train()
print(trainer.evaluate())
