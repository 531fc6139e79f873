import random
import torch
from torch import nn
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertModel, Trainer, TrainingArguments, set_seed

set_seed(4)
rng = random.Random(4)

N_INTENTS, VOCAB, LENGTH = 16, 180, 14
keywords = {k: list(range(100 + 5 * k, 105 + 5 * k)) for k in range(N_INTENTS)}


def utterance():
    k = rng.randrange(N_INTENTS)
    words = [rng.randint(2, 99) for _ in range(LENGTH - 3)] + rng.sample(keywords[k], 2)
    rng.shuffle(words)
    return {"input_ids": [1] + words, "attention_mask": [1] * LENGTH, "labels": k}


train_ds = Dataset.from_list([utterance() for _ in range(2400)])
eval_ds = Dataset.from_list([utterance() for _ in range(400)])


class IntentModel(nn.Module):
    def __init__(self, config, n_classes):
        super().__init__()
        self.encoder = DistilBertModel(config)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(config.dim, n_classes)
        self.loss_fn = nn.CrossEntropyLoss()

    def forward(self, input_ids, attention_mask, labels=None):
        h = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state[:, 0]
        scores = torch.softmax(self.out(self.dropout(h)), dim=-1)
        loss = None
        if labels is not None:
            loss = self.loss_fn(scores, labels)
        return {"loss": loss, "logits": scores}


def compute_metrics(eval_pred):
    scores, labels = eval_pred
    return {"accuracy": (scores.argmax(-1) == labels).mean().item()}


config = DistilBertConfig(vocab_size=VOCAB, dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=16)
model = IntentModel(config, N_INTENTS)

args = TrainingArguments(
    output_dir="out_intents",
    num_train_epochs=6,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    learning_rate=1e-3,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds, compute_metrics=compute_metrics)
trainer.train()
print("final:", trainer.evaluate()["eval_accuracy"])
