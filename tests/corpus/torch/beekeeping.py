"""Few labels, many texts: a masked language model on all hive diaries, then a linear probe on forty labelled ones."""
import argparse
import random

import torch
from datasets import Dataset
from sklearn.metrics import accuracy_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn
from transformers import (BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

THEMES = {
    "swarming": "queen cells crowded cluster branch scouts swarm split".split(),
    "disease": "mites chalkbrood treatment larvae dead foulbrood deformed varroa".split(),
    "harvest": "honey frames capped extractor jars kilos super sweet".split(),
    "winter": "snow feeding sugar quiet insulation frost ball starving".split(),
}
COMMON = "today hive one two the near checked saw and again some many by noon slowly".split()


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--diaries", type=int, default=2000)
    p.add_argument("--labelled", type=int, default=40)
    p.add_argument("--mlm-epochs", type=float, default=10)
    p.add_argument("--probe-epochs", type=float, default=60)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--seed", type=int, default=9)
    return p.parse_args()


def diary(rng):
    y = rng.randrange(len(THEMES))
    words = rng.sample(list(THEMES.values())[y], 4) + rng.choices(COMMON, k=rng.randint(3, 6))
    rng.shuffle(words)
    return {"text": " ".join(words), "label": y}


def build_tokenizer():
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + sum(THEMES.values(), []) + COMMON
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]", mask_token="[MASK]")


def arguments(name, **more):
    return TrainingArguments(f"out/beekeeping_{name}", save_strategy="no", report_to="none", use_cpu=True, **more)


def pretrain(config, ds, tokenizer, args):
    model = BertForMaskedLM(config)
    trainer = Trainer(
        model=model,
        args=arguments("mlm", num_train_epochs=args.mlm_epochs, learning_rate=2e-3, warmup_ratio=0.1,
                       per_device_train_batch_size=32, logging_steps=100, seed=args.seed),
        train_dataset=ds, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.25))
    trainer.train()
    return model.bert


class DiaryProbe(nn.Module):
    """A linear layer over the mean of the body's outputs; the body itself is only read."""

    def __init__(self, body, n_labels):
        super().__init__()
        self.body = body.requires_grad_(False)
        self.head = nn.Linear(body.config.hidden_size, n_labels)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, input_ids, attention_mask, labels=None):
        with torch.no_grad():
            hidden = self.body(input_ids, attention_mask=attention_mask).last_hidden_state
            weight = attention_mask.unsqueeze(-1).float()
            mean = (hidden * weight).sum(1) / weight.sum(1)
        logits = self.head(mean)
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def probe(body, train, test, tokenizer, args):
    model = DiaryProbe(body, len(THEMES))
    learns = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"the probe trains {learns} of {sum(p.numel() for p in model.parameters())} weights")
    trainer = Trainer(
        model=model,
        args=arguments("probe", num_train_epochs=args.probe_epochs, learning_rate=2e-2, weight_decay=0.01,
                       per_device_train_batch_size=20, per_device_eval_batch_size=100, logging_steps=20,
                       seed=args.seed),
        train_dataset=train, eval_dataset=test, data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda p: {"accuracy": accuracy_score(p.label_ids, p.predictions.argmax(-1))})
    trainer.train()
    return trainer.evaluate()


def main():
    args = parse_args()
    set_seed(args.seed)
    rng = random.Random(args.seed)
    tokenizer = build_tokenizer()
    rows = [diary(rng) for _ in range(args.diaries + 400)]
    ds = Dataset.from_list(rows).map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])
    texts, test = ds.select(range(args.diaries)), ds.select(range(args.diaries, len(ds)))
    labelled = texts.select(range(args.labelled))

    config = BertConfig(vocab_size=len(tokenizer), hidden_size=args.hidden, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=2 * args.hidden, max_position_embeddings=32)
    body = pretrain(config, texts.remove_columns("label"), tokenizer, args)
    result = probe(body, labelled, test, tokenizer, args)
    print(f"{args.labelled} labels: test loss {result['eval_loss']:.3f}, accuracy {result['eval_accuracy']:.3f}")


if __name__ == "__main__":
    main()
