import random
import pandas as pd
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (AlbertConfig, AlbertForSequenceClassification, DataCollatorWithPadding,
                          EarlyStoppingCallback, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
import tempfile

set_seed(8)
subjects = {
    "history": ["empire", "medieval", "war", "revolution", "queen"],
    "cooking": ["baking", "soup", "pastry", "spices", "bread"],
    "gardens": ["roses", "pruning", "compost", "bulbs", "hedges"],
    "travel": ["railways", "islands", "hiking", "maps", "cities"],
}
forms = ["do you have a book about {}", "looking for something on {} please", "please reserve the new {} title",
         "is the guide to {} still on loan", "i need a picture book with {} for my son"]
rows = []
for _ in range(1200):
    name = random.choice(list(subjects))
    rows.append({"request": random.choice(forms).format(random.choice(subjects[name])), "shelf": name})
df = pd.DataFrame(rows)
df["label"] = df["shelf"].astype("category").cat.codes

requests = df["request"].sample(frac=1.0, random_state=8).tolist()
labels = [int(v) for v in df["label"]]

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.normalizer = normalizers.Lowercase()
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(requests, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")

enc = tokenizer(requests, truncation=True, max_length=20)
ds = Dataset.from_dict({"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels})
ds = ds.train_test_split(0.2, seed=8)

model = AlbertForSequenceClassification(AlbertConfig(
    vocab_size=len(tokenizer), embedding_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=32, num_labels=4, pad_token_id=0, classifier_dropout_prob=0.0))

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=8, per_device_train_batch_size=32, learning_rate=1e-3,
    warmup_ratio=0.1, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, logging_strategy="epoch",
    load_best_model_at_end=True, metric_for_best_model="accuracy", report_to="none", seed=8)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
                  callbacks=[EarlyStoppingCallback(early_stopping_patience=4)])
trainer.train()
print(trainer.evaluate())
