# Notebook export: classify peptides (soluble / membrane / secreted) with a tiny GPT-2 over residues.
# %%
import numpy as np
import torch
from transformers import GPT2Config, GPT2ForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(8)
rng = np.random.default_rng(8)
AA = "ACDEFGHIKLMNPQRSTVWY"
PAD_ID = 0
vocab = {a: i + 1 for i, a in enumerate(AA)}
classes = ["soluble", "membrane", "secreted"]

# %% simulate sequences
HYDRO = list("AILMFVW")
POLAR = list("DEKRNQST")


def simulate(kind):
    n = int(rng.integers(16, 30))
    seq = list(rng.choice(list(AA), n))
    if kind == 1:                       # hydrophobic stretch anywhere
        start = int(rng.integers(0, n - 9))
        seq[start:start + 9] = list(rng.choice(HYDRO, 9))
    elif kind == 2:                     # signal peptide: charged start, hydrophobic core at the N-terminus
        seq[0] = "M"
        seq[1:3] = list(rng.choice(list("KR"), 2))
        seq[3:9] = list(rng.choice(list("LAV"), 6))
    else:
        for i in range(n):
            if rng.random() < 0.2:
                seq[i] = str(rng.choice(POLAR))
    return "".join(seq)


def make(n):
    y = rng.integers(0, 3, n)
    return [(simulate(k), int(k)) for k in y]


train_rows, test_rows = make(1300), make(400)
print(train_rows[0], "mean length", np.mean([len(s) for s, _ in train_rows]))


# %% dataset + collator
class Peptides(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        seq, label = self.rows[i]
        return {"input_ids": [vocab[c] for c in seq], "labels": label}


def collate(items):
    width = max(len(it["input_ids"]) for it in items)
    ids = torch.full((len(items), width), PAD_ID)
    mask = torch.zeros(len(items), width, dtype=torch.long)
    for r, it in enumerate(items):
        ids[r, :len(it["input_ids"])] = torch.tensor(it["input_ids"])
        mask[r, :len(it["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([it["labels"] for it in items])}


def compute_metrics(p):
    guess = p.predictions.argmax(-1)
    conf = np.zeros((3, 3), int)
    np.add.at(conf, (p.label_ids, guess), 1)
    return {"accuracy": float(np.trace(conf) / conf.sum()),
            "balanced": float((np.diag(conf) / conf.sum(1)).mean())}


# %% model
config = GPT2Config(
    vocab_size=len(vocab) + 1,
    n_positions=48,
    n_embd=48,
    n_layer=2,
    n_head=4,
    resid_pdrop=0.05,
    embd_pdrop=0.05,
    attn_pdrop=0.05,
    num_labels=len(classes),
    pad_token_id=PAD_ID,
    bos_token_id=None,
    eos_token_id=None,
    id2label=dict(enumerate(classes)),
)
model = GPT2ForSequenceClassification(config)
print(f"{model.num_parameters():,} parameters")

# %% training
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    warmup_steps=30,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=47,
    report_to="none",
    disable_tqdm=True,
    seed=8,
)
trainer = Trainer(model=model, args=args, train_dataset=Peptides(train_rows), eval_dataset=Peptides(test_rows),
                  data_collator=collate, compute_metrics=compute_metrics)
trainer.train()

# %% result
result = trainer.evaluate()
majority = np.bincount([k for _, k in test_rows]).max() / len(test_rows)
print(f"majority {majority:.3f}  accuracy {result['eval_accuracy']:.3f}  balanced {result['eval_balanced']:.3f}")
