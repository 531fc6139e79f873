"""A small GPT-2 that rewrites spoken dates ("3 march 1987") as ISO dates, character level."""
import datetime
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup, set_seed

CHARS = "_$>-0123456789 abcdefghijklmnopqrstuvwxyz"
PAD, EOS, SEP = 0, 1, 2
STOI = {c: i for i, c in enumerate(CHARS)}


def random_pair(rng):
    day = datetime.date(1950, 1, 1) + datetime.timedelta(days=rng.randrange(27000))
    month = day.strftime("%B").lower()
    form = rng.choice([f"{day.day} {month} {day.year}", f"{month} {day.day} {day.year}"])
    return form, day.isoformat()


def make_pairs(n, seed):
    rng = random.Random(seed)
    return [random_pair(rng) for _ in range(n)]


def to_batch(pairs):
    rows, targets = [], []
    for spoken, iso in pairs:
        prompt = [STOI[c] for c in spoken + ">"]
        answer = [STOI[c] for c in iso + "$"]
        rows.append(prompt + answer)
        targets.append([-100] * len(prompt) + answer)
    width = max(map(len, rows))
    input_ids = torch.tensor([r + [PAD] * (width - len(r)) for r in rows])
    labels = torch.tensor([t + [-100] * (width - len(t)) for t in targets])
    attention_mask = torch.tensor([[1] * len(r) + [0] * (width - len(r)) for r in rows])
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


@torch.no_grad()
def exact_match(model, pairs):
    model.eval()
    right = 0
    for spoken, iso in pairs:
        prompt = torch.tensor([[STOI[c] for c in spoken + ">"]])
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=11,
                             do_sample=False, pad_token_id=PAD, eos_token_id=EOS)
        text = "".join(CHARS[i] for i in out[0, prompt.shape[1]:].tolist()).split("$")[0]
        right += text == iso
    model.train()
    return right / len(pairs), f"{spoken} -> {text}"


def train(model, pairs, steps, batch_size=48, lr=4e-3):
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    sched = get_cosine_schedule_with_warmup(opt, steps // 20, steps)
    rng = random.Random(0)
    model.train()
    avg = None
    for step in range(1, steps + 1):
        batch = to_batch(rng.sample(pairs, batch_size))
        input_ids, labels = batch["input_ids"], batch["labels"]
        mask = batch["attention_mask"]
        loss = model(input_ids=input_ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad()
        avg = loss.item() if avg is None else 0.97 * avg + 0.03 * loss.item()
        if step % 100 == 0:
            print(f"step {step:4d} loss {avg:.4f}")
    return avg


def main():
    set_seed(6)
    held_out = make_pairs(60, 2)
    pairs = sorted(set(make_pairs(6000, 1)) - set(held_out))
    config = GPT2Config(vocab_size=len(CHARS), n_positions=48, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=EOS, eos_token_id=EOS)
    model = GPT2LMHeadModel(config)
    final = train(model, pairs, steps=400)
    score, sample = exact_match(model, held_out)
    print("sample:", sample)
    print(f"final train loss {final:.4f}  held-out exact match {score:.4f}")


if __name__ == "__main__":
    main()
