"""Route support tickets to teams with a small BERT trained from scratch."""
import numpy as np
import torch
from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer,
                          TrainingArguments, get_linear_schedule_with_warmup, set_seed)

SEED = 21
BATCH = 32
EPOCHS = 8
MAX_LEN = 16
set_seed(SEED)
rng = np.random.default_rng(SEED)

PRODUCTS = ["router", "laptop", "phone", "tablet", "printer", "camera"]
ISSUES = ["broken", "invoice", "slow", "missing", "login", "refund"]
FILLER = ("please the my is since yesterday again hello thanks we have a with new "
          "office team today still cannot help need ticket order urgent about").split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + PRODUCTS + ISSUES + FILLER)}
N_TEAMS = 4
TEAM_OF = rng.integers(0, N_TEAMS, (6, 6))


def write_ticket():
    p, q = rng.integers(0, 6, 2)
    words = list(rng.choice(FILLER, rng.integers(4, 12)))
    for w in (PRODUCTS[p], ISSUES[q]):
        words.insert(rng.integers(0, len(words) + 1), w)
    return " ".join(words), int(TEAM_OF[p, q])


def make_split(n):
    texts, labels = zip(*[write_ticket() for _ in range(n)])
    return Dataset.from_dict({"text": list(texts), "label": list(labels)})


def encode(example):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in example["text"].split()]
    ids = ids[:MAX_LEN]
    pad = MAX_LEN - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((logits.argmax(-1) == labels).mean())}


train_ds = make_split(2240).map(encode, remove_columns=["text"])
test_ds = make_split(400).map(encode, remove_columns=["text"])

config = BertConfig(
    vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=N_TEAMS,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)
model = BertForSequenceClassification(config)

no_decay = ("bias", "LayerNorm.weight")
groups = [
    {"params": [p for n, p in model.named_parameters() if not n.endswith(no_decay)],
     "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if n.endswith(no_decay)],
     "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=2e-3)
steps_per_epoch = int(np.ceil(len(train_ds) / BATCH))
total_steps = steps_per_epoch
scheduler = get_linear_schedule_with_warmup(
    optimizer, num_warmup_steps=int(0.1 * total_steps), num_training_steps=total_steps)

args = TrainingArguments(
    output_dir="out", num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH,
    per_device_eval_batch_size=200, eval_strategy="epoch", save_strategy="no",
    logging_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True, seed=SEED,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                  compute_metrics=compute_metrics, optimizers=(optimizer, scheduler))
trainer.train()
final = trainer.evaluate()
majority = np.bincount(test_ds["label"]).max() / len(test_ds)
print(f"test accuracy {final['eval_accuracy']:.3f}  majority team {majority:.3f}")
