"""Herbarium labels: masked-language pretraining, then a frozen BERT with small adapters for the family."""
import argparse
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, DataCollatorForLanguageModeling,
                          DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

FAMILIES = {
    "rose": ["prickly stem", "five petals", "pinnate leaves", "red hips"],
    "daisy": ["ray florets", "composite head", "basal rosette", "pappus present"],
    "mint": ["square stem", "opposite leaves", "strong scent", "two lips"],
}
PLACES = ["meadow", "roadside", "alpine slope", "garden wall", "river bank"]


def label_text(rng):
    family = rng.randrange(3)
    signs = rng.sample(list(FAMILIES.values())[family], 2)
    return f"collected at {rng.choice(PLACES)} showing {signs[0]} and {signs[1]}", family


def build_tokenizer(texts):
    inner = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.train_from_iterator(
        texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]", mask_token="[MASK]")


class Adapter(nn.Module):
    """Wraps a frozen linear layer; starts as the identity because `up` is zero."""

    def __init__(self, linear, rank=8):
        super().__init__()
        self.linear = linear
        self.down = nn.Linear(linear.in_features, rank, bias=False)
        self.up = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x))


def settings(name, epochs, lr):
    return TrainingArguments(
        output_dir=f"out/{name}", num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=32,
        logging_steps=40, save_strategy="no", report_to="none", disable_tqdm=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--unlabelled", type=int, default=1500)
    parser.add_argument("--labelled", type=int, default=300)
    args = parser.parse_args()
    set_seed(17)
    rng = random.Random(17)

    texts = [label_text(rng)[0] for _ in range(args.unlabelled)]
    tok = build_tokenizer(texts)
    config = BertConfig(vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=32, num_labels=3)
    corpus = Dataset.from_dict({"text": texts}).map(lambda r: tok(r["text"]), remove_columns="text")
    mlm = BertForMaskedLM(config)
    Trainer(model=mlm, args=settings("herbarium_mlm", 12, 2e-3), train_dataset=corpus,
            data_collator=DataCollatorForLanguageModeling(tok, mlm_probability=0.2)).train()

    model = BertForSequenceClassification(config)
    missing = model.bert.load_state_dict(mlm.bert.state_dict(), strict=False)
    print("new weights:", missing.missing_keys)
    for p in model.bert.parameters():
        p.requires_grad = False
    for layer in model.bert.encoder.layer:
        layer.attention.self.query = Adapter(layer.attention.self.query)
        layer.attention.self.value = Adapter(layer.attention.self.value)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"trainable: {trainable} of {sum(p.numel() for p in model.parameters())}")

    def labelled(n):
        rows = [label_text(rng) for _ in range(n)]
        ds = Dataset.from_dict({"text": [t for t, _ in rows], "labels": [y for _, y in rows]})
        return ds.map(lambda r: tok(r["text"]), remove_columns="text")

    trainer = Trainer(
        model=model, args=settings("herbarium_adapter", 25, 5e-3), train_dataset=labelled(args.labelled),
        eval_dataset=labelled(200), data_collator=DataCollatorWithPadding(tok),
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
