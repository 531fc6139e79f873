"""A pocket-sized GPT-2 learns to sort letters:  <bos> d b a > a b d <eos>
Training batches are padded on the right, prompts for generate() on the left."""
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

LETTERS = "abcdefghij"
PAD, BOS, EOS, SEP = 0, 1, 2, 3
ENC = {c: i + 4 for i, c in enumerate(LETTERS)}
DEC = {v: k for k, v in ENC.items()}


def problem(rnd):
    picks = rnd.sample(LETTERS, rnd.randint(2, 6))
    return "".join(picks), "".join(sorted(picks))


class SortData(Dataset):
    def __init__(self, problems):
        self.problems = problems

    def __len__(self):
        return len(self.problems)

    def __getitem__(self, i):
        q, a = self.problems[i]
        prompt = [BOS] + [ENC[c] for c in q] + [SEP]
        answer = [ENC[c] for c in a] + [EOS]
        return {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer}


def collate(rows):
    n = max(len(r["input_ids"]) for r in rows)
    fill = lambda seq, v: seq + [v] * (n - len(seq))
    return {"input_ids": torch.tensor([fill(r["input_ids"], PAD) for r in rows]),
            "attention_mask": torch.tensor([fill([1] * len(r["input_ids"]), 0) for r in rows]),
            "labels": torch.tensor([fill(r["labels"], -100) for r in rows])}


@torch.no_grad()
def exact_match(model, problems, bs=100):
    was = model.training
    model.eval()
    hits = 0
    for k in range(0, len(problems), bs):
        part = problems[k:k + bs]
        prompts = [[BOS] + [ENC[c] for c in q] + [SEP] for q, _ in part]
        n = max(map(len, prompts))
        ids = torch.tensor([[PAD] * (n - len(p)) + p for p in prompts])
        mask = torch.tensor([[0] * (n - len(p)) + [1] * len(p) for p in prompts])
        out = model.generate(ids, attention_mask=mask, max_new_tokens=8, do_sample=False)
        for row, (_, a) in zip(out[:, n:].tolist(), part):
            row = row[:row.index(EOS)] if EOS in row else row
            hits += "".join(DEC.get(t, "?") for t in row) == a
    model.train(was)
    return hits / len(problems)


class Watch(TrainerCallback):
    def __init__(self, problems):
        self.problems = problems

    def on_epoch_end(self, args, state, control, model=None, **kw):
        print(f"  epoch {state.epoch:.0f}: exact match on 100 held-out problems "
              f"{exact_match(model, self.problems[:100]):.2f}")


def main():
    set_seed(7)
    rnd = random.Random(7)
    seen = {}
    while len(seen) < 3600:
        q, a = problem(rnd)
        seen.setdefault(q, a)
    pairs = list(seen.items())
    sets = sorted(set(seen.values()))
    aside = set(rnd.sample(sets, len(sets) // 8))        # letter sets that training never meets
    train = [p for p in pairs if p[1] not in aside]
    test = [p for p in pairs if p[1] in aside]

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=4 + len(LETTERS), n_positions=32, n_embd=64, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD))
    print("tied output matrix:", model.lm_head.weight is model.transformer.wte.weight)

    args = TrainingArguments(
        "out/sort", num_train_epochs=4, per_device_train_batch_size=16, gradient_accumulation_steps=2,
        learning_rate=4e-3, lr_scheduler_type="cosine", warmup_ratio=0.08, weight_decay=0.01,
        logging_steps=100, save_strategy="no", report_to=[], disable_tqdm=True, seed=7, use_cpu=True)
    trainer = Trainer(model=model, args=args, train_dataset=SortData(train), eval_dataset=SortData(test),
                      data_collator=collate, callbacks=[Watch(test)])
    before = exact_match(model, test)
    trainer.train()
    print("eval loss", round(trainer.evaluate()["eval_loss"], 4))
    copied = sum(q == a for q, a in test) / len(test)
    print(f"exact match on {len(test)} unseen problems: {exact_match(model, test):.3f} "
          f"(untrained {before:.3f}, copying the input {copied:.3f})")


if __name__ == "__main__":
    main()
