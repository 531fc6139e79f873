import random
import numpy as np
from datasets import Dataset
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers

set_seed(8)
rng = random.Random(8)

worth = {"garden": 0.9, "balcony": 0.5, "basement": -0.9, "noisy": -0.7, "renovated": 0.8, "central": 1.0,
         "remote": -1.0, "furnished": 0.4, "dark": -0.6, "lift": 0.3, "old": -0.4, "view": 0.7}
plain = "flat with two rooms and a kitchen near the station for one year bright owner calls".split()

vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]"] + list(worth) + plain)}
base = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
base.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=base, pad_token="[PAD]", unk_token="[UNK]",
                                    model_input_names=["input_ids", "attention_mask"])


def advert():
    traits = rng.sample(list(worth), rng.randint(1, 5))
    words = traits + rng.choices(plain, k=rng.randint(4, 10))
    rng.shuffle(words)
    return {"text": " ".join(words), "label": sum(worth[t] for t in traits) + rng.gauss(0, 0.1)}


def tokenize(batch):
    return tokenizer(batch["text"])


train = Dataset.from_list([advert() for _ in range(2000)]).map(tokenize, batched=True, remove_columns="text")
valid = Dataset.from_list([advert() for _ in range(400)]).map(tokenize, batched=True, remove_columns="text")

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(vocab), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=24,
    num_labels=1, problem_type="regression", seq_classif_dropout=0.0))


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    mse = ((predictions - labels) ** 2).mean()
    return {"rmse": float(np.sqrt(mse)), "r2": float(1 - mse / labels.var())}


args = TrainingArguments("out_rents", num_train_epochs=6, per_device_train_batch_size=32, per_device_eval_batch_size=64,
                         learning_rate=1e-3, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
                         report_to="none", use_cpu=True)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=valid, data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=compute_metrics)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items()})
