"""Voice command intents: a small DistilBERT, Hugging Face Trainer, custom loss and two learning rates.

Six intents of synthetic voice commands; two of them are rare.
The embedding table is random and frozen on purpose (random features + trained encoder).
"""
import warnings

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import Dataset
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors

warnings.filterwarnings("ignore", message=".*pin_memory.*")
set_seed(12)
torch.set_num_threads(1)
ROOMS = "kitchen hall bedroom garage attic office".split()
FRAMES = {
    0: ["switch the {r} lamp on", "light on in the {r}", "i need light in the {r} please"],
    1: ["switch the {r} lamp off", "light off in the {r}", "make the {r} dark please"],
    2: ["warm the {r} up a bit", "it is cold in the {r}", "heat the {r} please"],
    3: ["cool the {r} down a bit", "it is hot in the {r}", "too warm in the {r}"],
    4: ["lock the {r} door", "is the {r} door shut and locked"],
    5: ["open the {r} door", "let me into the {r} and open up"],
}
SHARE = np.array([0.29, 0.29, 0.2, 0.15, 0.04, 0.03])
NOISE = "um well ok so hey uh now then house".split()


def utterance(rng):
    label = int(rng.choice(6, p=SHARE))
    words = str(rng.choice(FRAMES[label])).format(r=rng.choice(ROOMS)).split()
    for _ in range(int(rng.integers(0, 5))):
        words.insert(int(rng.integers(0, len(words) + 1)), str(rng.choice(NOISE)))
    words = [w if rng.random() > 0.06 else "[UNK]" for w in words]
    return " ".join(words), label


def tokenizer():
    words = sorted({w for f in FRAMES.values() for s in f for w in s.split() if "{" not in w} | set(ROOMS) | set(NOISE))
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]", model_input_names=["input_ids", "attention_mask"])


class Commands(Dataset):
    def __init__(self, n, seed, tok):
        rng = np.random.default_rng(seed)
        texts, self.labels = zip(*(utterance(rng) for _ in range(n)))
        self.enc = tok(list(texts))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.enc["input_ids"][i], "attention_mask": self.enc["attention_mask"][i], "labels": self.labels[i]}


class BalancedTrainer(Trainer):
    """Square-root class weights; the head learns five times faster than the encoder."""

    def __init__(self, *a, class_weight, **kw):
        super().__init__(*a, **kw)
        self.class_weight = class_weight

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.cross_entropy(out.logits, labels, weight=self.class_weight, label_smoothing=0.05)
        return (loss, out) if return_outputs else loss

    def create_optimizer(self):
        head = [p for n, p in self.model.named_parameters() if p.requires_grad and "classifier" in n]
        body = [p for n, p in self.model.named_parameters() if p.requires_grad and "classifier" not in n]
        self.optimizer = torch.optim.AdamW([{"params": body, "lr": self.args.learning_rate},
                                            {"params": head, "lr": 5 * self.args.learning_rate}], weight_decay=0.01)
        return self.optimizer


def scores(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean()), "macro_f1": f1_score(p.label_ids, pred, average="macro")}


tok = tokenizer()
train, val, test = Commands(1600, 1, tok), Commands(400, 2, tok), Commands(600, 3, tok)
model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tok), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=40, num_labels=6))
table = model.distilbert.embeddings.word_embeddings
nn.init.normal_(table.weight, std=0.5)
table.weight.requires_grad_(False)

counts = np.bincount(train.labels, minlength=6)
weight = torch.tensor(np.sqrt(counts.mean() / counts), dtype=torch.float32)
args = TrainingArguments(
    output_dir="out/commands", num_train_epochs=8, learning_rate=1e-3, warmup_ratio=0.1, lr_scheduler_type="cosine",
    per_device_train_batch_size=16, gradient_accumulation_steps=2, per_device_eval_batch_size=200,
    eval_strategy="epoch", save_strategy="no", logging_strategy="epoch", report_to=[], disable_tqdm=True, use_cpu=True)
trainer = BalancedTrainer(model=model, args=args, train_dataset=train, eval_dataset=val, compute_metrics=scores,
                          data_collator=DataCollatorWithPadding(tok), class_weight=weight)
trainer.train()
final = trainer.evaluate(test, metric_key_prefix="test")
print(f"test accuracy {final['test_accuracy']:.3f}, macro F1 {final['test_macro_f1']:.3f}, "
      f"majority {np.bincount(test.labels).max() / len(test):.3f}")
