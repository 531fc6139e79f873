"""Ticket triage: text of the ticket plus three account figures -> priority (low / normal / urgent)."""
import logging
import random

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)
from transformers.modeling_outputs import SequenceClassifierOutput

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("triage")

PRIORITIES = ["low", "normal", "urgent"]
SEVERITY = {
    0: ["how do I change my {} settings", "a question about the {} invoice", "please send the {} manual again", "wish list for {}"],
    1: ["{} is slower than last week", "some {} reports look odd", "two users see errors in {}", "{} export fails now and then"],
    2: ["{} is down for everybody", "we lost all {} data", "security alert in {}", "nobody can log in to {}"],
}
OPENERS = ["hello ,", "hi team ,", "dear support ,", "good morning ,", ""]
CLOSERS = ["thanks !", "kind regards", "please advise .", "waiting for your reply", ""]
SYSTEMS = ["billing", "mail", "storage", "calendar", "payroll", "search", "backup"]


def tickets(n, rng):
    for _ in range(n):
        severity = rng.randint(0, 2)
        seats, monthly_fee, open_days = rng.randint(1, 400), rng.lognormvariate(5, 1), rng.expovariate(1 / 4)
        body = rng.choice(SEVERITY[severity]).format(rng.choice(SYSTEMS))
        score = 1.2 * severity + 1.3 * np.tanh((seats - 200) / 80) + 0.7 * (np.log(monthly_fee) - 5) + 0.15 * (open_days - 4)
        yield {
            "ticket": f"{rng.choice(OPENERS)} {body} {rng.choice(CLOSERS)}".strip(),
            "account": [(seats - 200) / 115, np.log(monthly_fee) - 5, (open_days - 4) / 4],
            "label": int(score > 0.4) + int(score > 2.0),
        }


class TicketModel(nn.Module):
    """Text encoder with the account figures joined in front of the classifier."""

    def __init__(self, config, n_figures, n_classes):
        super().__init__()
        self.text = DistilBertModel(config)
        self.figures = nn.Sequential(nn.Linear(n_figures, 32), nn.ReLU())
        self.classifier = nn.Sequential(nn.Linear(config.dim + 32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, n_classes))
        self.n_figures = n_figures

    def forward(self, input_ids, attention_mask, labels=None, **features):
        hidden = self.text(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1)
        account = features.get("account")
        if account is None:  # visitors who have no account yet
            account = pooled.new_zeros(len(pooled), self.n_figures)
        logits = self.classifier(torch.cat([pooled, self.figures(account.float())], dim=-1))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def compute_metrics(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": accuracy_score(p.label_ids, guess), "macro_f1": f1_score(p.label_ids, guess, average="macro")}


def main():
    set_seed(5)
    rng = random.Random(5)
    train, test = Dataset.from_list(list(tickets(4000, rng))), Dataset.from_list(list(tickets(600, rng)))

    core = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    core.normalizer, core.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    core.train_from_iterator(list(train["ticket"]), trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                        model_input_names=["input_ids", "attention_mask"])

    train = train.map(lambda b: tokenizer(b["ticket"], truncation=True, max_length=32), batched=True)
    test = test.map(lambda b: tokenizer(b["ticket"], truncation=True, max_length=32), batched=True)
    train, test = train.remove_columns("ticket"), test.remove_columns("ticket")
    log.info("columns: %s", train.column_names)

    model = TicketModel(DistilBertConfig(vocab_size=len(tokenizer), dim=64, n_layers=1, n_heads=4, hidden_dim=128,
                                         max_position_embeddings=32, pad_token_id=0), n_figures=3, n_classes=3)
    args = TrainingArguments(
        output_dir="out/helpdesk_priority",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        learning_rate=1e-3,
        weight_decay=0.01,
        warmup_ratio=0.1,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        seed=5,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
    trainer.train()
    scores = trainer.evaluate()
    majority = np.bincount(test["label"]).max() / len(test)
    log.info("held-out accuracy %.3f, macro F1 %.3f (always the largest class: %.3f)",
             scores["eval_accuracy"], scores["eval_macro_f1"], majority)


if __name__ == "__main__":
    main()
