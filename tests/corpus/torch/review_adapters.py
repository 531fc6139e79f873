"""Hotel reviews: masked pre-training, then low-rank adapters on a frozen encoder for the sentiment task.

Stage 1 trains a small BERT with the masked-word objective on unlabelled reviews. Stage 2 freezes it completely, puts
rank-4 updates next to the query/value projections and trains those, the pooler and the classifier on 400 labelled reviews.
"""
import math
import random

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, DataCollatorForLanguageModeling,
                          DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(6)
rng = random.Random(6)
GOOD = "spotless friendly quiet charming delicious generous helpful bright comfortable lovely superb cosy".split()
BAD = "filthy rude noisy shabby stale stingy careless gloomy broken awful dreadful damp".split()
THINGS = "room breakfast staff bathroom lobby terrace bed pool view lift reception garden".split()


def review(label=None):
    """Most remarks agree with the overall opinion, one may not; 'not' turns a word round."""
    label = rng.randint(0, 1) if label is None else label
    remarks = []
    for k in range(rng.choice([3, 5])):
        positive = bool(label) if k or rng.random() < 0.5 else not label
        thing = rng.choice(THINGS)
        if rng.random() < 0.25:
            remarks.append(f"the {thing} was not {rng.choice(BAD if positive else GOOD)} at all")
        else:
            remarks.append(f"the {thing} was {rng.choice(['very', 'really', 'quite'])} {rng.choice(GOOD if positive else BAD)}")
    rng.shuffle(remarks)
    return {"text": " , ".join(remarks) + " .", "label": label}


unlabelled = Dataset.from_list([review() for _ in range(3000)]).remove_columns("label")
train, test = Dataset.from_list([review() for _ in range(400)]), Dataset.from_list([review() for _ in range(600)])

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.normalizer, tok.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
tok.train_from_iterator(list(unlabelled["text"]), trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
tok.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
                                    mask_token="[MASK]", model_input_names=["input_ids", "attention_mask"])


def encode(batch):
    return tokenizer(batch["text"], truncation=True, max_length=64)


unlabelled, train, test = (d.map(encode, batched=True).remove_columns("text") for d in (unlabelled, train, test))
config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=64, pad_token_id=0, num_labels=2, initializer_range=0.05, hidden_dropout_prob=0.0)


def arguments(name, **kw):
    return TrainingArguments(f"out/{name}", per_device_train_batch_size=32, per_device_eval_batch_size=200, save_strategy="no",
                             report_to="none", disable_tqdm=True, logging_steps=60, seed=6, **kw)


masked = BertForMaskedLM(config)
Trainer(masked, arguments("reviews_mlm", num_train_epochs=3, learning_rate=2e-3, warmup_steps=30), train_dataset=unlabelled,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.25)).train()


class LowRank(nn.Module):
    def __init__(self, linear, rank=4, alpha=16):
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + (x @ self.down.T @ self.up.T) * self.scale


model = BertForSequenceClassification(config)
print(model.bert.load_state_dict(masked.bert.state_dict(), strict=False))
model.bert.encoder.requires_grad_(False)
model.bert.embeddings.requires_grad_(False)
before = {n: p.detach().clone() for n, p in model.named_parameters() if not p.requires_grad}
for layer in model.bert.encoder.layer:
    layer.attention.self.query = LowRank(layer.attention.self.query)
    layer.attention.self.value = LowRank(layer.attention.self.value)
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"{trainable} of {sum(p.numel() for p in model.parameters())} weights are trained")

trainer = Trainer(
    model,
    arguments("reviews_lora", num_train_epochs=25, learning_rate=5e-3, lr_scheduler_type="cosine", warmup_ratio=0.1, weight_decay=0.0),
    train_dataset=train, eval_dataset=test, data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
print("before:", round(trainer.evaluate()["eval_accuracy"], 3))
trainer.train()
after = dict(model.named_parameters())
moved = [n for n, p in before.items() if not torch.equal(p, after.get(n, after.get(n.replace(".query.", ".query.linear.").replace(".value.", ".value.linear."))))]
print("frozen weights that moved:", len(moved), " held-out accuracy:", round(trainer.evaluate()["eval_accuracy"], 3),
      " largest class:", round(float(np.bincount(test["label"]).max() / len(test)), 3))
