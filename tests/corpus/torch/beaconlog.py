import os
os.environ["USE_TF"] = "0"

import random
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(5)

# Keepers' shorthand: weather sets the lamp, the lamp sets the horn, and the watch rotates.
WEATHER = ["clear", "haze", "fog", "squall", "snow"]
LAMP = {"clear": "fixed", "haze": "slow", "fog": "quick", "squall": "quick", "snow": "group"}
HORN = {"fixed": "silent", "slow": "single", "quick": "double", "group": "long"}
WATCH = ["first", "middle", "morning", "forenoon"]
VOCAB = ["<pad>", "<bos>", "<eos>"] + WEATHER + sorted(set(LAMP.values())) + sorted(set(HORN.values())) + WATCH
ID = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 26


def entry():
    watch, words = random.randrange(4), ["<bos>"]
    for _ in range(random.randint(3, 6)):
        sky = random.choice(WEATHER)
        words += [WATCH[watch % 4], sky, LAMP[sky], HORN[LAMP[sky]]]
        watch += 1
    return words + ["<eos>"]


class BeaconLog(Dataset):
    def __init__(self, n):
        self.items = [[ID[w] for w in entry()] for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {"ids": self.items[i]}


def collate(batch):
    ids = torch.zeros(len(batch), MAX_LEN, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, item in enumerate(batch):
        n = len(item["ids"])
        ids[row, :n] = torch.tensor(item["ids"])
        mask[row, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def keep_argmax(logits, labels):
    if isinstance(logits, tuple):
        logits = logits[0]
    return logits.argmax(dim=-1)


def compute_metrics(eval_pred):
    preds, labels = eval_pred
    mask = labels != -100
    return {"token_accuracy": float((preds == labels)[mask].mean())}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(VOCAB), n_positions=32, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                   bos_token_id=1, eos_token_id=2, pad_token_id=0))
args = TrainingArguments("beacon_out", num_train_epochs=3, per_device_train_batch_size=32, per_device_eval_batch_size=64,
                         learning_rate=2e-3, lr_scheduler_type="cosine", warmup_ratio=0.05, logging_steps=20,
                         eval_strategy="epoch", save_strategy="no", remove_unused_columns=False, label_names=["labels"],
                         report_to=[], use_cpu=True, disable_tqdm=True, dataloader_pin_memory=False)
trainer = Trainer(model=model, args=args, train_dataset=BeaconLog(900), eval_dataset=BeaconLog(200),
                  data_collator=collate, compute_metrics=compute_metrics,
                  preprocess_logits_for_metrics=keep_argmax)
trainer.train()
print(trainer.evaluate())
prompt = torch.tensor([[ID["<bos>"], ID["first"], ID["fog"]]])
out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False)
print(" ".join(VOCAB[t] for t in out[0]))
