import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import balanced_accuracy_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

CONFIG = {
    "seed": 21,
    "n_tickets": 1600,
    "levels": ["normal", "urgent", "outage"],
    "share": [0.8, 0.14, 0.06],
    "epochs": 7,
    "lr": 1e-3,
}

COMMON = "customer says the page account order invoice login button settings please help with my again today".split()
CUES = {
    "normal": ["question", "wondering", "update", "change", "thanks"],
    "urgent": ["deadline", "blocked", "asap", "cannot", "failing"],
    "outage": ["down", "unreachable", "500", "everyone", "timeout"],
}


def write_tickets(cfg):
    texts, labels = [], []
    for _ in range(cfg["n_tickets"]):
        level = random.choices(range(3), weights=cfg["share"])[0]
        words = random.choices(COMMON, k=random.randint(6, 18))
        for _ in range(random.randint(1, 3)):
            words.insert(random.randrange(len(words)), random.choice(CUES[cfg["levels"][level]]))
        if random.random() < 0.3:
            words.insert(0, random.choice(CUES["normal"]))
        texts.append(" ".join(words))
        labels.append(level)
    return Dataset.from_dict({"text": texts, "label": labels})


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        weights = self.class_weights.to(outputs.logits.device)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=weights)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean()),
            "balanced_accuracy": balanced_accuracy_score(pred.label_ids, guess)}


def main(cfg):
    set_seed(cfg["seed"])
    data = write_tickets(cfg).train_test_split(test_size=0.25, seed=cfg["seed"])
    tokenizer = train_tokenizer(data["train"]["text"])
    data = data.map(lambda b: tokenizer(["[CLS] " + t for t in b["text"]]), batched=True, remove_columns=["text"])
    counts = np.bincount(data["train"]["label"], minlength=3)
    weights = torch.tensor(counts.sum() / (3 * counts), dtype=torch.float32)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, num_labels=3, pad_token_id=tokenizer.pad_token_id))
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(output_dir=out, num_train_epochs=cfg["epochs"], learning_rate=cfg["lr"],
                                 per_device_train_batch_size=32, per_device_eval_batch_size=64,
                                 eval_strategy="epoch", save_strategy="no", logging_steps=20,
                                 report_to="none", disable_tqdm=True)
        trainer = WeightedTrainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                                  data_collator=DataCollatorWithPadding(tokenizer),
                                  compute_metrics=compute_metrics, class_weights=weights)
        trainer.train()
        final = trainer.evaluate()
    print(f"accuracy {final['eval_accuracy']:.3f}  balanced accuracy {final['eval_balanced_accuracy']:.3f}")


if __name__ == "__main__":
    main(CONFIG)
