"""GPT-2 writes down the answer to little sums: padding with the end token, gradient checkpointing, accumulation."""
import argparse
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

CHARS = "0123456789+-=$"          # $ ends a line and fills it up
INDEX = {c: i for i, c in enumerate(CHARS)}
END = INDEX["$"]


def riddle(rng):
    a, b = rng.randint(0, 9), rng.randint(0, 9)
    if rng.random() < 0.5:
        return f"{a}+{b}=", str(a + b)
    return f"{max(a, b)}-{min(a, b)}=", str(max(a, b) - min(a, b))


class Riddles(torch.utils.data.IterableDataset):
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def __iter__(self):
        while True:
            yield riddle(self.rng)


def collate(rows):
    width = max(len(q) + len(a) + 1 for q, a in rows)
    ids = torch.full((len(rows), width), END)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    labels = torch.full((len(rows), width), -100)
    for i, (q, a) in enumerate(rows):
        line = torch.tensor([INDEX[c] for c in q + a] + [END])
        ids[i, :len(line)] = line
        mask[i, :len(line)] = 1
        labels[i, len(q):len(line)] = line[len(q):]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--max_steps", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    opt = p.parse_args()
    set_seed(opt.seed)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(CHARS), n_positions=16, n_embd=96, n_layer=2, n_head=4,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=END,
                                       eos_token_id=END, pad_token_id=END, use_cache=False))
    args = TrainingArguments(output_dir="riddles", max_steps=opt.max_steps, per_device_train_batch_size=16,
                             gradient_accumulation_steps=4, gradient_checkpointing=True,
                             gradient_checkpointing_kwargs={"use_reentrant": False}, learning_rate=3e-3,
                             lr_scheduler_type="cosine", warmup_steps=30, weight_decay=0.1, adam_beta2=0.95,
                             logging_steps=25, save_strategy="no", report_to="none", disable_tqdm=True)
    Trainer(model=model, args=args, train_dataset=Riddles(opt.seed), data_collator=collate).train()

    model.eval()
    rng, right = random.Random(77), 0
    for _ in range(100):
        q, a = riddle(rng)
        ids = torch.tensor([[INDEX[c] for c in q]])
        with torch.no_grad():
            while ids.shape[1] < 10:
                nxt = model(ids).logits[:, -1].argmax(-1, keepdim=True)
                if nxt.item() == END:
                    break
                ids = torch.cat([ids, nxt], 1)
        right += "".join(CHARS[i] for i in ids[0, len(q):]) == a
    print("solved:", right, "of 100")


if __name__ == "__main__":
    main()
