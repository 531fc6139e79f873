"""Tag job advertisements with the skills they ask for."""
import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(21)
SKILLS = {
    "data": ["sql", "pandas", "dashboards", "statistics"],
    "web": ["react", "css", "typescript", "frontend"],
    "ops": ["kubernetes", "terraform", "linux", "monitoring"],
    "people": ["mentoring", "hiring", "leadership", "coaching"],
    "sales": ["pipeline", "prospects", "quota", "crm"],
}
FILLER = "we are looking for someone with solid experience in and a good sense of our team you will".split()
TAGS = list(SKILLS)


def make_ad():
    wanted = random.sample(TAGS, random.randint(1, 3))
    words = [random.choice(FILLER) for _ in range(random.randint(6, 14))]
    for tag in wanted:
        for w in random.sample(SKILLS[tag], random.randint(1, 2)):
            words.insert(random.randrange(len(words)), w)
    return {"text": " ".join(words), "tags": wanted}


vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(set(FILLER) | {w for ws in SKILLS.values() for w in ws})
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def encode(row):
    out = tokenizer(row["text"], truncation=True, max_length=48)
    out["labels"] = [int(tag in row["tags"]) for tag in TAGS]
    return out


ads = Dataset.from_list([make_ad() for _ in range(1200)]).map(encode, remove_columns=["text", "tags"])
split = ads.train_test_split(test_size=0.2, seed=0)

config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS),
                    problem_type="multi_label_classification")
model = BertForSequenceClassification(config)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    guesses = (logits > 0).astype(int)
    return {"micro_f1": f1_score(labels.astype(int), guesses, average="micro"),
            "exact": float(np.all(guesses == labels, axis=1).mean())}


args = TrainingArguments("jobads_out", learning_rate=2e-3, per_device_train_batch_size=32, num_train_epochs=12,
                         eval_strategy="epoch", save_strategy="no", logging_steps=30, report_to="none", seed=21)
trainer = Trainer(model, args, train_dataset=split["train"], eval_dataset=split["test"],
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
