"""Tag every token of a bracket string with its nesting depth; short strings come first, frozen token embeddings."""
import random
import numpy as np
from datasets import Dataset
from torch.utils.data import SequentialSampler
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers

set_seed(41)
vocab = {"[PAD]": 0, "[UNK]": 1, "(": 2, ")": 3, "a": 4, "b": 5, "c": 6}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")


def string(length):
    toks, tags, depth = [], [], 0
    for _ in range(length):
        choices = ["a", "b", "c"]
        if depth < 3:
            choices += ["("] * 3
        if depth > 0:
            choices += [")"] * 3
        t = random.choice(choices)
        if t == "(":
            depth += 1
        tags.append(depth if t in "()" else -100)
        if t == ")":
            depth -= 1
        toks.append(t)
    return " ".join(toks), tags


def build(n, longest):
    rows = [string(random.randint(4, longest)) for _ in range(n)]
    return Dataset.from_dict({"input_ids": [tokenizer(s)["input_ids"] for s, _ in rows],
                              "labels": [t for _, t in rows]})


train_ds, test_ds = build(1600, 16), build(200, 16)
train_ds = train_ds.map(lambda r: {"difficulty": len(r["input_ids"])}).sort("difficulty")


class CurriculumTrainer(Trainer):
    def _get_train_sampler(self, dataset=None):
        return SequentialSampler(self.train_dataset)


model = BertForTokenClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=32, num_labels=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    initializer_range=0.1))
model.bert.embeddings.word_embeddings.requires_grad_(False)


def compute_metrics(p):
    keep = p.label_ids != -100
    return {"tag_accuracy": float((p.predictions.argmax(-1)[keep] == p.label_ids[keep]).mean())}


args = TrainingArguments("brackets", num_train_epochs=8, per_device_train_batch_size=32, learning_rate=2e-3,
                         warmup_ratio=0.1, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
                         report_to="none", seed=41)
trainer = CurriculumTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                            data_collator=DataCollatorForTokenClassification(tokenizer),
                            processing_class=tokenizer, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
