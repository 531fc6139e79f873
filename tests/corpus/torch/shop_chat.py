import random

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(5)
happy = ["great", "thanks", "love", "perfect", "quick", "friendly"]
angry = ["broken", "late", "rude", "refund", "awful", "never"]
moods = ["unhappy", "mixed", "happy"]
vocab = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}
for w in happy + angry:
    vocab[w] = len(vocab)
MAX_LEN = 128


def tokenize(text, pad=True):
    ids = [vocab["[CLS]"]] + [vocab[w] for w in text.split()] + [vocab["[SEP]"]]
    ids = ids[:MAX_LEN]
    return ids + [vocab["[PAD]"]] * (MAX_LEN - len(ids)) if pad else ids


def write_message():
    n = random.randint(3, 14)
    words = [random.choice(happy if random.random() < share else angry) for share in [random.random()] for _ in range(n)]
    share = sum(w in happy for w in words) / n
    return " ".join(words), 0 if share < 0.35 else 1 if share <= 0.65 else 2


class ChatDataset(torch.utils.data.Dataset):
    def __init__(self, n):
        self.items = [write_message() for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        text, mood = self.items[i]
        input_ids = torch.tensor(tokenize(text))
        return {"input_ids": input_ids, "labels": torch.tensor(mood)}


config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=64, max_position_embeddings=MAX_LEN, num_labels=len(moods))
model = BertForSequenceClassification(config)
args = TrainingArguments(output_dir="chat", num_train_epochs=6, per_device_train_batch_size=16, learning_rate=1e-3,
                         logging_steps=45, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=ChatDataset(720), eval_dataset=ChatDataset(160),
                  compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())

model.eval()
hits = 0
for text, mood in (write_message() for _ in range(200)):
    with torch.no_grad():
        hits += model(input_ids=torch.tensor([tokenize(text, pad=False)])).logits.argmax(-1).item() == mood
print("new messages, one at a time:", hits / 200)
