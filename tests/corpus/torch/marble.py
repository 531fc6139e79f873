# Find the group that belongs to the asked key. Plain loop, short contexts first, bf16, two optimizers.
import argparse
import random
from contextlib import nullcontext

import torch
from transformers import BertConfig, BertForQuestionAnswering

PAD, SEP, STOP, KEY0, VAL0 = 0, 1, 2, 3, 15
N_KEYS, N_VALS = 12, 30


def make_row(rng, pairs):
    """question key, SEP, then `pairs` groups: key, one or two values, STOP; the span is the group without STOP"""
    keys = rng.sample(range(N_KEYS), pairs)
    asked = rng.choice(keys)
    ids, types = [KEY0 + asked, SEP], [0, 0]
    start = end = 0
    for k in keys:
        vals = [VAL0 + rng.randrange(N_VALS) for _ in range(rng.randint(1, 2))]
        if k == asked:
            start, end = len(ids), len(ids) + len(vals)
        ids += [KEY0 + k] + vals + [STOP]
    types += [1] * (len(ids) - 2)
    return ids, types, start, end


def collate(rows):
    longest = max(len(r[0]) for r in rows)
    fill = lambda v: v + [PAD] * (longest - len(v))
    ids = torch.tensor([fill(r[0]) for r in rows])
    return {"input_ids": ids, "token_type_ids": torch.tensor([fill(r[1]) for r in rows]),
            "attention_mask": (ids != PAD).long(), "start_positions": torch.tensor([r[2] for r in rows]),
            "end_positions": torch.tensor([r[3] for r in rows])}


@torch.no_grad()
def exact_match(model, rows):
    model.eval()
    good = 0
    for i in range(0, len(rows), 100):
        b = collate(rows[i:i + 100])
        out = model(input_ids=b["input_ids"], attention_mask=b["attention_mask"], token_type_ids=b["token_type_ids"])
        s, e = out.start_logits.argmax(-1), out.end_logits.argmax(-1)
        good += ((s == b["start_positions"]) & (e == b["end_positions"])).sum().item()
    model.train()
    return good / len(rows)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--passes", type=int, default=3)
    ap.add_argument("--fp32", action="store_true")
    a = ap.parse_args()
    torch.manual_seed(6)
    rng = random.Random(6)

    train = sorted((make_row(rng, rng.randint(2, 5)) for _ in range(12000)), key=lambda r: len(r[0]))
    test = [make_row(rng, rng.randint(2, 5)) for _ in range(500)]
    model = BertForQuestionAnswering(BertConfig(
        vocab_size=VAL0 + N_VALS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.08,
        pad_token_id=PAD))
    tables = list(model.bert.embeddings.parameters())
    known = {id(p) for p in tables}
    body = [p for p in model.parameters() if id(p) not in known]
    opts = [torch.optim.Adam(tables, lr=3e-3), torch.optim.AdamW(body, lr=1.5e-3, weight_decay=0.01)]
    cast = nullcontext() if a.fp32 else torch.autocast("cpu", dtype=torch.bfloat16)

    print(f"exact match at the start {exact_match(model, test):.3f}")
    model.train()
    for lap in range(a.passes + 1):
        if lap > 0:
            rng.shuffle(train)
        seen = 0.0
        for n, i in enumerate(range(0, len(train), a.batch), 1):
            with cast:
                loss = model(**collate(train[i:i + a.batch])).loss
            (loss / a.accumulate).backward()
            seen += loss.item()
            if n % a.accumulate == 0:
                for o in opts:
                    o.step()
                    o.zero_grad()
            if n % 50 == 0:
                print(f"lap {lap} batch {n} loss {seen / 50:.3f}")
                seen = 0.0
        print(f"lap {lap} exact match {exact_match(model, test):.3f}")


if __name__ == "__main__":
    main()
