"""Teach a tiny GPT-2 to turn plain English requests into shell commands."""
import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

parser = argparse.ArgumentParser()
parser.add_argument("--n_train", type=int, default=1600)
parser.add_argument("--n_test", type=int, default=200)
parser.add_argument("--epochs", type=int, default=9)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--seed", type=int, default=7)
args = parser.parse_args()
set_seed(args.seed)

FOLDERS = ["docs", "music", "photos", "backup", "src", "logs", "work", "mail", "drafts", "games"]
KINDS = {"pictures": "*.jpg", "songs": "*.mp3", "notes": "*.txt", "tables": "*.csv", "scripts": "*.py", "pages": "*.html", "films": "*.mp4"}


def sample(rng):
    folder, other = rng.sample(FOLDERS, 2)
    kind, glob = rng.choice(list(KINDS.items()))
    n = rng.choice([1, 2, 5, 10, 20, 50])
    options = [
        (f"list the {kind} in {folder}", f"find {folder} -name '{glob}'"),
        (f"move all {kind} from {folder} to {other}", f"mv {folder}/{glob} {other}/"),
        (f"copy the {kind} of {folder} into {other}", f"cp {folder}/{glob} {other}/"),
        (f"show the last {n} lines of the {kind} in {folder}", f"tail -n {n} {folder}/{glob}"),
        (f"how many {kind} are there in {folder}", f"ls {folder}/{glob} | wc -l"),
    ]
    return rng.choice(options)


rng = random.Random(args.seed)
pairs = sorted({sample(rng) for _ in range(40000)})
rng.shuffle(pairs)
train_pairs = pairs[: args.n_train]
test_pairs = pairs[args.n_train : args.n_train + args.n_test]
print(f"{len(train_pairs)} training and {len(test_pairs)} test requests")

bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.decoder = decoders.ByteLevel()
bpe.train_from_iterator(
    [f"{q}\n$ {c}" for q, c in train_pairs],
    trainers.BpeTrainer(vocab_size=500, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|endoftext|>", bos_token="<|endoftext|>")
tokenizer.add_special_tokens({"pad_token": "<|pad|>"})


def encode(row):
    return tokenizer(f"{row['request']}\n$ {row['command']}{tokenizer.eos_token}")


train_ds = Dataset.from_list([{"request": q, "command": c} for q, c in train_pairs])
train_ds = train_ds.map(encode, remove_columns=["request", "command"])

model = GPT2LMHeadModel(
    GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=96,
        n_embd=80,
        n_layer=3,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        initializer_range=0.09,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
)
print(f"{model.num_parameters() / 1e3:.0f}k parameters")

trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out/shell_commands",
        num_train_epochs=args.epochs,
        per_device_train_batch_size=args.batch_size,
        learning_rate=args.lr,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        weight_decay=0.01,
        logging_steps=100,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=args.seed,
    ),
    train_dataset=train_ds,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()

model.eval()
tokenizer.padding_side = "left"
hits, shown = 0, 0
for i in range(0, len(test_pairs), 50):
    chunk = test_pairs[i : i + 50]
    enc = tokenizer([f"{q}\n$" for q, _ in chunk], return_tensors="pt", padding=True)
    enc.pop("token_type_ids", None)
    with torch.no_grad():
        out = model.generate(**enc, max_new_tokens=32, do_sample=False)
    texts = tokenizer.batch_decode(out[:, enc["input_ids"].shape[1] :], skip_special_tokens=True)
    for (q, c), t in zip(chunk, texts):
        hits += t.strip() == c
        if shown < 4:
            print(f"  {q!r} -> {t.strip()!r}")
            shown += 1
print(f"exact match on held-out requests: {hits / len(test_pairs):.3f}")
