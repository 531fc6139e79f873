"""Small GPT-2 on short route notes; checks that it continues a route rightly."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(4)
rng = np.random.default_rng(4)

STREETS = ["oak", "elm", "mill", "quay", "king", "park", "lake", "hill", "dock", "mint", "rose", "fern"]
VERBS = ["take", "cross", "follow", "pass"]
WORDS = ["<pad>", "<bos>", "<eos>", "then"] + VERBS + STREETS
ID = {w: i for i, w in enumerate(WORDS)}
PAD, BOS, EOS = 0, 1, 2
# each street leads to one other street, and the verb follows from the street just left
NEXT = {s: STREETS[(5 * i + 3) % 12] for i, s in enumerate(STREETS)}
VERB = {s: VERBS[i % 4] for i, s in enumerate(STREETS)}


def route():
    street = STREETS[rng.integers(12)]
    words = ["<bos>", VERBS[rng.integers(4)], street]
    for _ in range(rng.integers(2, 6)):
        words += ["then", VERB[street], NEXT[street]]
        street = NEXT[street]
    return [ID[w] for w in words] + [EOS]


class Routes(Dataset):
    def __init__(self, n):
        self.rows = [route() for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i]}


def collate(features):
    seqs = [f["input_ids"] for f in features]
    width = max(map(len, seqs))
    ids = torch.full((len(seqs), width), PAD)
    mask = torch.zeros((len(seqs), width), dtype=torch.long)
    for i, s in enumerate(seqs):
        ids[i, :len(s)] = torch.tensor(s)
        mask[i, :len(s)] = 1
    labels = ids.masked_fill(mask == 0, -100)
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "labels": labels,
    }


@torch.no_grad()
def continue_routes(model, n=60):
    model.eval()
    good = 0
    for k in range(n):
        street = STREETS[k % 12]
        prompt = [BOS, ID[VERBS[k % 4]], ID[street]]
        ids = torch.tensor([prompt])
        for _ in range(6):
            logits = model(ids).logits[0, -1]
            logits[EOS] = -1e9
            ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
        nxt = NEXT[street]
        want = ["then", VERB[street], nxt, "then", VERB[nxt], NEXT[nxt]]
        got = [WORDS[i] for i in ids[0, 3:]]
        good += got == want
        if k < 3:
            print(street, "->", " ".join(got))
    return good / n


config = GPT2Config(vocab_size=len(WORDS), n_positions=40, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=6, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, learning_rate=2e-3, lr_scheduler_type="cosine", warmup_ratio=0.05,
    eval_strategy="epoch", logging_steps=50, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=Routes(2400), eval_dataset=Routes(300), data_collator=collate)
trainer.train()
print("routes continued rightly:", continue_routes(model))
