import random
import numpy as np
from datasets import Dataset, DatasetDict
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(42)
good = ["lovely", "great", "tasty", "charming", "excellent", "friendly"]
bad = ["awful", "rude", "bland", "dirty", "terrible", "slow"]
nouns = ["The food", "The service", "The room", "Our waiter", "The dessert", "The bar"]


def review():
    positive = random.random() < 0.5
    negated = random.random() < 0.3
    word = random.choice(good if positive else bad)
    text = f"{random.choice(nouns)} was {'not ' if negated else ''}{random.choice(['', 'really ', 'so '])}{word}"
    if random.random() < 0.5:
        text += random.choice([" and we stayed for two hours", " on a busy Saturday", ", as always"])
    return {"text": text, "label": int(positive != negated)}


data = Dataset.from_list([review() for _ in range(1500)])
split = data.train_test_split(test_size=0.2, seed=42)
ds = DatasetDict(train=split["train"], validation=split["test"])

tk = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tk.normalizer = normalizers.Lowercase()
tk.pre_tokenizer = pre_tokenizers.Whitespace()
tk.train_from_iterator(ds["train"]["text"], trainers.WordLevelTrainer(
    special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False))
tk.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tk, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True), batched=True, remove_columns=["text"])

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=32,
    pad_token_id=0, id2label={0: "NEG", 1: "POS"}, label2id={"NEG": 0, "POS": 1}))


def compute_metrics(eval_pred):
    logits, y = eval_pred
    pred = logits.argmax(axis=-1)
    tp = np.sum((pred == 1) & (y == 1))
    return {"accuracy": np.mean(pred == y), "f1": 2 * tp / max(1, np.sum(pred == 1) + np.sum(y == 1))}


args = TrainingArguments(output_dir="out_reviews", num_train_epochs=8, per_device_train_batch_size=16,
                         per_device_eval_batch_size=64, learning_rate=8e-4, weight_decay=0.01, eval_strategy="epoch",
                         logging_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["validation"],
                  processing_class=tokenizer, data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
