"""Train a tiny GPT-2 from scratch to translate robot commands into action strings.
    "walk left then jump then run right  =>  LEFT WALK JUMP RIGHT RUN"
"""
import random

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(5)
VERBS = {"walk": "WALK", "run": "RUN", "jump": "JUMP", "look": "LOOK", "wave": "WAVE"}
SIDES = {"left": "LEFT", "right": "RIGHT"}


def sample_pair():
    words, actions = [], []
    for i in range(random.randint(1, 4)):
        verb = random.choice(list(VERBS))
        words += ["then"] if i else []
        words.append(verb)
        if random.random() < 0.5:
            side = random.choice(list(SIDES))
            words.append(side)
            actions.append(SIDES[side])
        actions.append(VERBS[verb])
    return " ".join(words), " ".join(actions)


def build_tokenizer():
    words = list(VERBS) + list(VERBS.values()) + list(SIDES) + list(SIDES.values())
    words += ["then", "=>"]
    vocab = {w: i for i, w in enumerate(["<unk>", "<eos>"] + words)}
    tok = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", eos_token="<eos>",
                                   model_input_names=["input_ids", "attention_mask"])


tokenizer = build_tokenizer()
tokenizer.pad_token = tokenizer.eos_token

pairs = sorted({sample_pair() for _ in range(4000)})
random.shuffle(pairs)
test_pairs, train_pairs = pairs[:150], pairs[150:]
print(f"{len(train_pairs)} training commands, {len(test_pairs)} unseen commands")


def encode(batch):
    texts = [f"{c} => {a} {tokenizer.eos_token}" for c, a in zip(batch["command"], batch["actions"])]
    return tokenizer(texts, truncation=True, max_length=40)


def to_dataset(rows):
    ds = Dataset.from_dict({"command": [c for c, _ in rows], "actions": [a for _, a in rows]})
    return ds.map(encode, batched=True, remove_columns=["command", "actions"])


config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    initializer_range=0.1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
                    pad_token_id=tokenizer.pad_token_id)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir="out", num_train_epochs=6, per_device_train_batch_size=32, per_device_eval_batch_size=64,
    learning_rate=3e-3, lr_scheduler_type="cosine", warmup_ratio=0.1, weight_decay=0.01,
    logging_steps=60, save_strategy="no", eval_strategy="no", report_to="none", disable_tqdm=True, seed=5)
trainer = Trainer(model=model, args=args, train_dataset=to_dataset(train_pairs), eval_dataset=to_dataset(test_pairs),
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
trainer.train()
print("held-out loss:", round(trainer.evaluate()["eval_loss"], 4))

tokenizer.padding_side = "left"
model.eval()
correct, lengths = 0, []
for i in range(0, len(test_pairs), 50):
    chunk = test_pairs[i:i + 50]
    enc = tokenizer([f"{c} =>" for c, _ in chunk], return_tensors="pt", padding=True)
    with torch.no_grad():
        out = model.generate(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"],
                             max_new_tokens=24, do_sample=False)
    answers = tokenizer.batch_decode(out[:, enc["input_ids"].shape[1]:], skip_special_tokens=True)
    for (cmd, ref), ans in zip(chunk, answers):
        correct += ans.strip() == ref
        lengths.append(len(ans.split()))
    if i == 0:
        for (cmd, ref), ans in list(zip(chunk, answers))[:3]:
            print(f"  {cmd!r}\n     want {ref}\n     got  {ans}")
ref_len = np.mean([len(a.split()) for _, a in test_pairs])
print(f"mean length: reference {ref_len:.1f}, generated {np.mean(lengths):.1f}")
print(f"exact match on unseen commands: {correct / len(test_pairs):.3f}")
