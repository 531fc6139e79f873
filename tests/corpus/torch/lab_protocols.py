"""Relation classification: does the first substance dissolve, heat or precipitate the second?"""
import random
from dataclasses import dataclass
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)


@dataclass
class Config:
    seed: int = 11
    n: int = 800
    epochs: int = 6
    lr: float = 1e-3
    batch: int = 32


cfg = Config()
set_seed(cfg.seed)
substances = ["salt", "acid", "water", "copper", "ether", "sugar", "lime", "silver", "iodine", "soda"]
verbs = [["dissolves", "takes up"], ["heats", "warms"], ["precipitates", "throws down"]]
tails = ["in the flask", "after ten minutes", "under the hood", "at room temperature", "with stirring"]

texts, labels = [], []
for _ in range(cfg.n):
    y = random.randrange(3)
    a, b = random.sample(substances, 2)
    texts.append(f"[E1] {a} [/E1] {random.choice(verbs[y])} [E2] {b} [/E2] {random.choice(tails)}")
    labels.append(y)

raw = Tokenizer(WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = Whitespace()
corpus = [t.replace("[E1]", "").replace("[/E1]", "").replace("[E2]", "").replace("[/E2]", "") for t in texts]
raw.train_from_iterator(corpus, WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")
tokenizer.add_special_tokens({"additional_special_tokens": ["[E1]", "[/E1]", "[E2]", "[/E2]"]})

data = Dataset.from_dict({"text": ["[CLS] " + t for t in texts], "label": labels})
data = data.map(lambda r: tokenizer(r["text"]), remove_columns="text").train_test_split(0.2, seed=cfg.seed)

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=tokenizer.vocab_size, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
    max_position_embeddings=64, num_labels=3, pad_token_id=tokenizer.pad_token_id))

trainer = Trainer(
    model=model,
    args=TrainingArguments("relations", num_train_epochs=cfg.epochs, per_device_train_batch_size=cfg.batch,
                           learning_rate=cfg.lr, logging_steps=20, save_strategy="no", report_to="none",
                           eval_strategy="epoch", seed=cfg.seed),
    train_dataset=data["train"], eval_dataset=data["test"],
    data_collator=DataCollatorWithPadding(tokenizer), processing_class=tokenizer,
    compute_metrics=lambda p: {"acc": float((p.predictions.argmax(1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
