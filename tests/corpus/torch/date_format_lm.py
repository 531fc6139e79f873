"""Small GPT-2 rewrites ISO dates: "2021-03-17=" or "21-03-17=" -> "17mar.".

Only the answer is scored (prompt positions are -100), input and output embeddings are tied,
the learning rate falls layer by layer, and the input texts are padded on the left.
"""
import datetime as dt
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(77)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CHARS = "_0123456789-=." + "".join(sorted(set("".join(MONTHS))))
STOI = {c: i for i, c in enumerate(CHARS)}
PAD = STOI["_"]
MAXLEN = 18


def random_date(rng):
    day = dt.date(1950, 1, 1) + dt.timedelta(days=rng.randrange(32000))
    text = day.isoformat()
    if rng.random() < 0.4:
        text = text[2:]
    return text + "=", f"{day.day:02d}{MONTHS[day.month - 1]}."


class Dates(Dataset):
    def __init__(self, pairs):
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


def collate(pairs):
    ids, mask, labels = [], [], []
    for q, a in pairs:
        left = MAXLEN - len(q) - len(a)
        tokens = [STOI[c] for c in q + a]
        ids.append([PAD] * left + tokens)
        mask.append([0] * left + [1] * len(tokens))
        labels.append([-100] * (left + len(q)) + [STOI[c] for c in a])
    mask = torch.tensor(mask)
    return {"input_ids": torch.tensor(ids), "attention_mask": mask,
            "position_ids": (mask.cumsum(1) - 1).clamp(min=0), "labels": torch.tensor(labels)}


class LayerwiseTrainer(Trainer):
    """Later blocks learn faster than earlier ones; norms and biases are not decayed."""

    def create_optimizer(self):
        depth = self.model.config.n_layer
        groups = {}
        for name, p in self.model.named_parameters():
            if name.startswith("transformer.h."):
                level = int(name.split(".")[2]) + 1
            else:
                level = 0 if ".wte" in name or ".wpe" in name else depth
            wd = 0.0 if p.ndim == 1 else 0.05
            g = groups.setdefault((level, wd), {
                "params": [], "weight_decay": wd, "lr": self.args.learning_rate * 0.8 ** (depth - level)})
            g["params"].append(p)
        self.optimizer = torch.optim.AdamW(list(groups.values()), betas=(0.9, 0.98))
        return self.optimizer


def keep_choice(logits, labels):
    return logits.argmax(-1)


def compute_metrics(p):
    guess, want = p.predictions[:, :-1], p.label_ids[:, 1:]
    scored = want != -100
    right = ((guess == want) | ~scored).all(1)
    return {"exact": float(right.mean()), "char": float((guess == want)[scored].mean())}


def main():
    rng = random.Random(77)
    everything = sorted({random_date(rng) for _ in range(3500)})
    rng.shuffle(everything)
    held_out, train = everything[:300], everything[300:]
    print(len(train), "training dates, e.g.", train[0], "|", len(held_out), "held out")

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(CHARS), n_positions=MAXLEN, n_embd=64, n_layer=2, n_head=4, tie_word_embeddings=True,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None))
    args = TrainingArguments(
        output_dir="out/dates", num_train_epochs=5, per_device_train_batch_size=64,
        per_device_eval_batch_size=300, learning_rate=5e-3, lr_scheduler_type="cosine", warmup_ratio=0.1,
        eval_strategy="epoch", logging_steps=50, save_strategy="no", report_to="none",
        remove_unused_columns=False, disable_tqdm=True, use_cpu=True)
    trainer = LayerwiseTrainer(model=model, args=args, data_collator=collate, train_dataset=Dates(train),
                               eval_dataset=Dates(held_out), compute_metrics=compute_metrics,
                               preprocess_logits_for_metrics=keep_choice)
    trainer.train()
    m = trainer.evaluate()
    print(f"held-out exact answers {m['eval_exact']:.3f} (guessing {1 / 365:.3f}), characters {m['eval_char']:.3f}")


if __name__ == "__main__":
    main()
