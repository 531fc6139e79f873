"""Flag the 6 % of support messages that need escalation. A small BERT from scratch, HF Trainer,
with a weight carried by each row (class balance x annotator confidence)."""
import os

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import average_precision_score, f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(17)
rng = np.random.default_rng(17)
FILL = "the my order please account yesterday app page i we it was is for with on team thanks hello again".split()
TOPIC = "invoice parcel login refund password delivery charger screen battery subscription".split()
ANGRY = "lawyer unacceptable fraud complaint stolen furious dangerous sue".split()
CALM = "fine resolved happy great joking".split()
VOCAB = ["[PAD]", "[CLS]", "[UNK]", "not"] + FILL + TOPIC + ANGRY + CALM
TOK = {w: i for i, w in enumerate(VOCAB)}
MAXLEN = 20


def message(positive):
    words = list(rng.choice(FILL, rng.integers(7, 13))) + list(rng.choice(TOPIC, 2))
    rng.shuffle(words)
    if positive:  # an angry word that is not negated
        words.insert(rng.integers(len(words)), rng.choice(ANGRY))
    elif rng.random() < 0.35:  # a negated angry word
        at = rng.integers(len(words))
        words[at:at] = ["not", rng.choice(ANGRY)]
    if rng.random() < 0.3:
        words.insert(0, rng.choice(CALM))
    return words


def build(n):
    y = (rng.random(n) < 0.06).astype(int)
    conf = rng.uniform(0.7, 1.0, n)
    ids, mask = [], []
    for label in y:
        seq = [TOK["[CLS]"]] + [TOK[w] for w in message(label)]
        seq = seq[:MAXLEN]
        mask.append([1] * len(seq) + [0] * (MAXLEN - len(seq)))
        ids.append(seq + [0] * (MAXLEN - len(seq)))
    slip = rng.random(n) < 0.005  # clerks get some labels wrong
    return ids, mask, np.where(slip, 1 - y, y), conf


def to_dataset(parts, w_pos):
    ids, mask, y, conf = parts
    weight = conf * np.where(y == 1, w_pos, 1.0)
    return Dataset.from_dict({"input_ids": ids, "attention_mask": mask, "labels": y.tolist(),
                              "row_weight": weight.tolist()})


class RowWeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weight = inputs.pop("row_weight")
        labels = inputs.pop("labels")
        out = model(**inputs)
        per_row = torch.nn.functional.cross_entropy(out.logits, labels, reduction="none")
        loss = (per_row * weight).sum() / weight.sum()
        return (loss, {"loss": loss, "logits": out.logits}) if return_outputs else loss


def metrics(ev):
    logits, y = ev
    prob = logits[:, 1] - logits[:, 0]
    pred = logits.argmax(-1)
    return {"f1": f1_score(y, pred, zero_division=0), "ap": average_precision_score(y, prob),
            "flagged": float(pred.mean()), "accuracy": float((pred == y).mean())}


train_parts, test_parts = build(3000), build(1000)
w_pos = float(np.sqrt((train_parts[2] == 0).sum() / (train_parts[2] == 1).sum()))
train_ds, test_ds = to_dataset(train_parts, w_pos), to_dataset(test_parts, w_pos)
config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=2)
model = BertForSequenceClassification(config)
args = TrainingArguments(
    output_dir="out/complaints", num_train_epochs=6, per_device_train_batch_size=32,
    per_device_eval_batch_size=250, learning_rate=1e-3, warmup_ratio=0.15, weight_decay=0.01,
    lr_scheduler_type="cosine", eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
    report_to=[], remove_unused_columns=False, disable_tqdm=True, label_names=["labels"], seed=17, use_cpu=True,
)
trainer = RowWeightedTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                             compute_metrics=metrics)
trainer.train()
final = trainer.evaluate()
rate = float(np.mean(test_parts[2]))
print(f"test F1 {final['eval_f1']:.3f} (flag everything {2 * rate / (1 + rate):.3f}) "
      f"AP {final['eval_ap']:.3f} (prevalence {rate:.3f}) accuracy {final['eval_accuracy']:.3f}")
