import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import WordLevelTrainer
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(11)
rng = np.random.default_rng(11)

district = {"centre": 1.6, "harbour": 1.1, "hills": 0.9, "northside": 0.1, "oldtown": 1.2, "riverside": 0.6}
state = {"renovated": 0.5, "original": -0.2, "neglected": -0.8, "new": 0.8}
extras = {"balcony": 0.2, "garage": 0.3, "garden": 0.4, "lift": 0.15, "cellar": 0.1}
rows = []
for _ in range(2000):
    d, s = rng.choice(list(district)), rng.choice(list(state))
    rooms = int(rng.integers(1, 7))
    ex = list(rng.choice(list(extras), size=rng.integers(0, 4), replace=False))
    price = district[d] + state[s] + 0.45 * rooms + sum(extras[e] for e in ex) + rng.normal(0, 0.1)
    text = f"{s} flat in {d} with {rooms} rooms" + (" and " + " and ".join(ex) if ex else "")
    rows.append({"text": text, "label": float(price)})
ds = Dataset.from_list(rows).train_test_split(test_size=0.2, seed=0)

t = Tokenizer(WordLevel(unk_token="<unk>"))
t.pre_tokenizer = WhitespaceSplit()
t.train_from_iterator(ds["train"]["text"], WordLevelTrainer(special_tokens=["<pad>", "<unk>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", unk_token="<unk>")
ds = ds.map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])

mean = np.mean(ds["train"]["label"])
std = np.std(ds["train"]["label"])
ds = ds.map(lambda r: {"label": (r["label"] - mean) / std})

config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32, num_labels=1, problem_type="regression")
model = DistilBertForSequenceClassification(config)


def compute_metrics(eval_pred):
    preds, labels = eval_pred
    preds = preds * std + mean
    labels = labels * std + mean
    err = preds - labels
    return {"mae": float(np.abs(err).mean()),
            "rmse": float(np.sqrt((err ** 2).mean()))}


trainer = Trainer(
    model=model,
    args=TrainingArguments("out_flats", num_train_epochs=6, learning_rate=5e-4, per_device_train_batch_size=32,
                           per_device_eval_batch_size=64, eval_strategy="epoch", logging_steps=50,
                           save_strategy="no", report_to="none", disable_tqdm=True, seed=11),
    train_dataset=ds["train"], eval_dataset=ds["test"],
    processing_class=tokenizer, compute_metrics=compute_metrics)
trainer.train()
result = trainer.evaluate()
print(f"typical error: {result['eval_mae']:.3f} (x 100k), rmse {result['eval_rmse']:.3f}, price std {std:.3f}")
