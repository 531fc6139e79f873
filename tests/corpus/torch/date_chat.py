"""Instruction tuning in small: a GPT-2 answers requests about calendar dates; only the answer tokens carry loss."""
import argparse
import datetime as dt
import random

import torch
from torch.utils.data import Dataset
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, decoders, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

p = argparse.ArgumentParser()
p.add_argument("--train_size", type=int, default=5000)
p.add_argument("--test_size", type=int, default=200)
p.add_argument("--steps", type=int, default=500)
opt = p.parse_args()
set_seed(12)

FIRST = dt.date(2000, 1, 1)


def spell(d, style):
    return {"long": d.strftime("%B %d, %Y"), "slash": d.strftime("%d/%m/%Y"), "dots": d.strftime("%d.%m.%Y")}[style]


def example(rng):
    d = FIRST + dt.timedelta(days=rng.randrange(365 * 30))
    style = rng.choice(["long", "slash", "dots"])
    ask = rng.choice(["iso date of {}", "write {} as iso", "month of {}", "which month is {}"])
    answer = d.isoformat() if "iso" in ask else d.strftime("%B")
    return "user: " + ask.format(spell(d, style)) + "\nbot:", " " + answer


rng = random.Random(12)
seen, rows = set(), []
while len(rows) < opt.train_size + opt.test_size:
    q, a = example(rng)
    if q not in seen:
        seen.add(q)
        rows.append((q, a))
train_rows, test_rows = rows[opt.test_size:], rows[: opt.test_size]

# words, groups of digits and punctuation as tokens
core = Tokenizer(models.WordLevel(unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Split(Regex(r"\d\d\d\d|\d\d|[A-Za-z]+:?|\s|."), behavior="isolated")
core.decoder = decoders.Fuse()
core.train_from_iterator([q + a for q, a in train_rows], trainers.WordLevelTrainer(special_tokens=["<unk>", "<|end|>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="<|end|>", pad_token="<|end|>", padding_side="left")


class Chats(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        question, answer = (tokenizer(t)["input_ids"] for t in self.rows[i])
        ids = question + answer + [tokenizer.eos_token_id]
        return {"input_ids": ids, "labels": [-100] * len(question) + ids[len(question):]}


def collate(batch):
    """Pads on the left; the padding shares its id with the end token, so masks are made from lengths."""
    width = max(len(b["input_ids"]) for b in batch)
    out = {"input_ids": [], "labels": [], "attention_mask": [], "position_ids": []}
    for b in batch:
        gap = width - len(b["input_ids"])
        out["input_ids"].append([tokenizer.pad_token_id] * gap + b["input_ids"])
        out["labels"].append([-100] * gap + b["labels"])
        out["attention_mask"].append([0] * gap + [1] * (width - gap))
        out["position_ids"].append([0] * gap + list(range(width - gap)))
    return {k: torch.tensor(v) for k, v in out.items()}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=48, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0,
                                   embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.1, bos_token_id=tokenizer.eos_token_id,
                                   eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id))
trainer = Trainer(
    model=model,
    args=TrainingArguments("out/date_chat", max_steps=opt.steps, per_device_train_batch_size=32, learning_rate=3e-3, adam_beta2=0.98,
                           lr_scheduler_type="cosine", warmup_steps=50, logging_steps=100, eval_strategy="steps", eval_steps=250,
                           save_strategy="no", remove_unused_columns=False, group_by_length=False, report_to="none",
                           disable_tqdm=True, seed=12),
    train_dataset=Chats(train_rows), eval_dataset=Chats(test_rows), data_collator=collate,
)
trainer.train()

model.eval()
exact, by_kind = 0, {"iso": [], "month": []}
for k in range(0, len(test_rows), 100):
    chunk = test_rows[k:k + 100]
    enc = tokenizer([q for q, _ in chunk], padding=True, return_tensors="pt", return_token_type_ids=False)
    out = model.generate(**enc, max_new_tokens=12, do_sample=False)
    for (q, a), ids in zip(chunk, out[:, enc["input_ids"].shape[1]:]):
        text = tokenizer.decode(ids, skip_special_tokens=True)
        by_kind["iso" if "iso" in q else "month"].append(text == a)
        exact += text == a
    print(repr(chunk[0][0]), "->", repr(tokenizer.decode(out[0, enc["input_ids"].shape[1]:])))
print(f"held-out answers exactly right: {exact / len(test_rows):.3f}", {k: round(sum(v) / len(v), 3) for k, v in by_kind.items()})
