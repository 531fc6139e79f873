"""Route short help-desk messages to a team with a small ELECTRA trained from scratch."""
import argparse
import random

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch.utils.data import DataLoader
from transformers import (
    DataCollatorWithPadding,
    ElectraConfig,
    ElectraForSequenceClassification,
    PreTrainedTokenizerFast,
    get_linear_schedule_with_warmup,
    set_seed,
)

TEAMS = {
    "billing": ["invoice", "refund", "charge", "card", "price", "receipt"],
    "network": ["wifi", "router", "vpn", "signal", "cable", "modem"],
    "account": ["password", "login", "email", "profile", "username", "code"],
    "shipping": ["parcel", "courier", "address", "delivery", "box", "label"],
}
OPENERS = ["hello", "hi there", "good morning", "dear team", "hey", "please help"]
TROUBLES = ["is wrong", "does not work", "went missing", "looks odd", "is too late", "failed twice"]
TAILS = ["thank you", "can you check", "it is urgent", "since monday", "no idea why", "as usual"]


def make_messages(n, rng):
    names = list(TEAMS)
    rows = []
    for _ in range(n):
        team = rng.randrange(len(names))
        main, second = rng.sample(TEAMS[names[team]], 2)
        other = rng.choice(TEAMS[rng.choice(names)])
        rows.append((f"{rng.choice(OPENERS)} my {main} {rng.choice(TROUBLES)} and the {second} too , "
                     f"not the {other} , {rng.choice(TAILS)}", team))
    return rows


def make_tokenizer(texts):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer(lowercase=True)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False
    )
    tok.train_from_iterator(texts, trainer)
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))],
    )
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def encode(rows, tokenizer, max_length):
    out = []
    for text, team in rows:
        enc = tokenizer(text, truncation=True, max_length=max_length, return_token_type_ids=False)
        out.append({**enc, "labels": team})
    return out


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = total = 0
    for batch in loader:
        labels = batch.pop("labels")
        hits += (model(**batch).logits.argmax(-1) == labels).sum().item()
        total += labels.numel()
    return hits / total


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--weight_decay", type=float, default=0.01)
    p.add_argument("--max_length", type=int, default=48)
    p.add_argument("--seed", type=int, default=13)
    return p.parse_args()


def main():
    args = parse_args()
    set_seed(args.seed)
    rng = random.Random(args.seed)
    rows = list(dict.fromkeys(make_messages(2400, rng)))
    train_rows, test_rows = rows[:-400], rows[-400:]
    tokenizer = make_tokenizer([t for t, _ in train_rows])
    collate = DataCollatorWithPadding(tokenizer)
    train_loader = DataLoader(encode(train_rows, tokenizer, args.max_length), batch_size=args.batch_size,
                              shuffle=True, collate_fn=collate)
    test_loader = DataLoader(encode(test_rows, tokenizer, args.max_length), batch_size=128, collate_fn=collate)

    config = ElectraConfig(
        vocab_size=len(tokenizer), embedding_size=64, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=128, max_position_embeddings=args.max_length,
        num_labels=len(TEAMS), pad_token_id=tokenizer.pad_token_id,
    )
    model = ElectraForSequenceClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=args.epochs)

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for batch in train_loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
        print(f"epoch {epoch + 1}: loss {running / len(train_loader):.4f}, "
              f"test accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
