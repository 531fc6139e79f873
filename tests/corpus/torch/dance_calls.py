"""Language model over square-dance call sheets; afterwards it continues a sheet by itself.

    python dance_calls.py --epochs 24 --prompt "[CLS] heads_forward"
"""
import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertLMHeadModel, DataCollatorForLanguageModeling, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

# formation -> calls that are allowed there, and the formation in which each one ends
CALLS = {
    "home": {"circle_left": "ring", "heads_forward": "lines", "bow": "home"},
    "ring": {"allemande": "weave", "promenade": "home", "break_ring": "lines"},
    "weave": {"right_left_grand": "ring", "do_si_do": "weave", "swing": "home"},
    "lines": {"pass_thru": "trade", "star_right": "star", "bend_line": "lines"},
    "trade": {"wheel_deal": "lines", "partner_trade": "star", "run_around": "ring"},
    "star": {"star_home": "home", "hub_flyer": "weave", "turn_star": "star"},
}
NAMES = sorted({call for table in CALLS.values() for call in table})


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--sheets", type=int, default=1000)
    p.add_argument("--length", type=int, default=24)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--epochs", type=float, default=24)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=21)
    p.add_argument("--prompt", default="[CLS] circle_left break_ring")
    return p.parse_args()


def call_sheet(length, rng):
    formation, calls = "home", []
    while len(calls) < length:
        options = list(CALLS[formation])
        call = rng.choice(options)
        calls.append(call)
        formation = CALLS[formation][call]
    return " ".join(["[CLS]"] + calls)


def build_tokenizer():
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + NAMES)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]", mask_token="[MASK]")


def build_model(args, tokenizer):
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=args.hidden, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=2 * args.hidden, max_position_embeddings=64, pad_token_id=tokenizer.pad_token_id,
    )
    return BertLMHeadModel(config)


@torch.no_grad()
def continue_sheet(model, tokenizer, prompt, steps, greedy=False):
    model.eval()
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    for _ in range(steps):
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, -1]
        if greedy:
            step = logits.argmax(-1, keepdim=True)
        else:
            step = torch.multinomial(logits.softmax(-1), 1)
        ids = torch.cat([ids, step], dim=1)
    return tokenizer.convert_ids_to_tokens(ids[0])


def danceable(tokens):
    """Share of a sheet that can be danced before the first call which the formation does not allow."""
    formation = "home"
    for k, call in enumerate(tokens[1:]):
        if call not in CALLS[formation]:
            return k / (len(tokens) - 1)
        formation = CALLS[formation][call]
    return 1.0


def main():
    args = parse_args()
    set_seed(args.seed)
    rng = random.Random(args.seed)
    tokenizer = build_tokenizer()
    sheets = [call_sheet(args.length, rng) for _ in range(args.sheets)]
    ds = Dataset.from_dict({"text": sheets}).map(
        lambda b: tokenizer(b["text"], return_token_type_ids=False), batched=True, remove_columns=["text"])
    parts = ds.train_test_split(test_size=0.1, seed=args.seed)

    model = build_model(args, tokenizer)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            "out/dance", num_train_epochs=args.epochs, learning_rate=args.lr, warmup_steps=20,
            per_device_train_batch_size=32, eval_strategy="epoch", logging_steps=15, save_strategy="no",
            report_to="none", use_cpu=True, seed=args.seed),
        train_dataset=parts["train"], eval_dataset=parts["test"],
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
    trainer.train()
    print(f"held-out loss {trainer.evaluate()['eval_loss']:.3f}")

    print(" ".join(continue_sheet(model, tokenizer, args.prompt, 12, greedy=True)))
    shares = [danceable(continue_sheet(model, tokenizer, call_sheet(3, rng), 16)) for _ in range(20)]
    print(f"danceable part of the continued sheets: {sum(shares) / len(shares):.3f}")


if __name__ == "__main__":
    main()
