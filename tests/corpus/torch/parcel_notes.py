import random

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(42)
rng = random.Random(42)
REASONS = {
    "damaged": ["box was crushed", "the glass is broken", "corner torn open", "contents leaked out"],
    "late": ["still not here", "two days overdue", "promised for monday", "tracking has not moved"],
    "wrong_item": ["this is not what i ordered", "got someone else's shoes", "colour is different", "wrong size sent"],
    "praise": ["driver was lovely", "arrived early", "very careful packing", "thanks a lot"],
}
NAMES = list(REASONS)
texts, labels = [], []
for i, name in enumerate(NAMES):
    for _ in range(300):
        opening = rng.choice(["hello", "hi there", "dear team", "parcel note", "regarding my order"])
        closing = rng.choice(["regards", "please reply", "bye", "see you", "order from last week"])
        texts.append(f"{opening} {rng.choice(REASONS[name])} {rng.choice(REASONS[name])} {closing}")
        labels.append(i)

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")

ds = Dataset.from_dict({"text": texts}).shuffle(seed=42).add_column("labels", labels)
ds = ds.map(lambda r: tok(["[CLS] " + t for t in r["text"]], return_token_type_ids=False), batched=True)
ds = ds.remove_columns("text")
split = ds.train_test_split(test_size=0.2, seed=42)

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tok), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=64,
    num_labels=len(NAMES)))
args = TrainingArguments(output_dir="out/parcel_notes", learning_rate=5e-4, num_train_epochs=5,
                         per_device_train_batch_size=16, eval_strategy="epoch", logging_steps=30, save_strategy="no",
                         report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=split["train"], eval_dataset=split["test"],
                  data_collator=DataCollatorWithPadding(tok),
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
