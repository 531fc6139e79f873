import tempfile

import torch
from datasets import load_dataset
from torch import nn
from transformers import AutoModel, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments, set_seed

set_seed(21)
ENCODER = "assets/distilbert-mini"


class MeanPooledClassifier(nn.Module):
    def __init__(self, name, num_labels):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(width, num_labels)

    def sentence_embedding(self, input_ids, attention_mask):
        with torch.no_grad():
            output = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        mask = attention_mask.unsqueeze(-1).float()
        return (output.last_hidden_state * mask).sum(1) / mask.sum(1).clamp(min=1e-9)

    def forward(self, input_ids, attention_mask, labels=None):
        emb = self.sentence_embedding(input_ids, attention_mask)
        logits = self.classifier(self.dropout(emb))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits} if loss is not None else {"logits": logits}


tokenizer = AutoTokenizer.from_pretrained(ENCODER)
raw = load_dataset("assets/nli", "3_labels")


def tok(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, max_length=96)


data = raw.map(tok, batched=True, remove_columns=["premise", "hypothesis", "idx"])
model = MeanPooledClassifier(ENCODER, 3)

optimizer = torch.optim.AdamW([
    {"params": model.encoder.parameters(), "lr": 1e-4},
    {"params": model.classifier.parameters(), "lr": 5e-4},
], weight_decay=0.01)

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    max_steps=250,
    logging_steps=25,
    save_strategy="no",
    report_to="none",
    seed=21,
)
trainer = Trainer(
    model=model, args=args,
    train_dataset=data["train"], eval_dataset=data["validation_matched"],
    data_collator=DataCollatorWithPadding(tokenizer),
    optimizers=(optimizer, None),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
