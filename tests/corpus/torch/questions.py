"""Which question word (where/when/who/why) is missing, given the answer?  Small BERT from config, plain loop."""
import random
import torch
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

random.seed(11)
torch.manual_seed(11)

ANSWERS = {"where": ["berlin", "upstairs", "outside", "home"], "when": ["tomorrow", "monday", "noon", "tonight"],
           "who": ["anna", "tom", "nobody", "grandma"], "why": ["because", "therefore", "for", "since"]}
FILL = "did is the old cat you think it go was they say maybe well i that really".split()
PAD, CLS, SEP = 0, 1, 2
vocab = {w: i + 3 for i, w in enumerate(sum(ANSWERS.values(), []) + FILL)}


def example():
    label = random.randint(0, 3)
    first = random.choices(FILL, k=random.randint(2, 6))
    second = random.choices(FILL, k=random.randint(1, 5))
    second.insert(random.randint(0, len(second)), random.choice(list(ANSWERS.values())[label]))
    a, b = [CLS] + [vocab[w] for w in first] + [SEP], [vocab[w] for w in second] + [SEP]
    return torch.tensor(a + b), torch.tensor([0] * len(a) + [1] * len(b)), label


def collate(rows):
    ids, types, labels = zip(*rows)
    ids = pad_sequence(ids, batch_first=True, padding_value=PAD)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(),
            "token_type_ids": pad_sequence(types, batch_first=True), "labels": torch.tensor(labels)}


train_dl = DataLoader([example() for _ in range(2500)], batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader([example() for _ in range(400)], batch_size=64, collate_fn=collate)
config = BertConfig(vocab_size=len(vocab) + 3, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=4, pad_token_id=PAD)
model = BertForSequenceClassification(config)
EPOCHS = 6
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
total_steps = EPOCHS * len(train_dl)
scheduler = get_linear_schedule_with_warmup(optimizer, total_steps // 10, total_steps)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for batch in train_dl:
        loss = model(**batch).loss
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        running += loss.item()
    model.eval()
    correct = 0
    for batch in test_dl:
        with torch.no_grad():
            logits = model(**batch).logits
        correct += (logits.argmax(-1) == batch["labels"]).sum().item()
    print(f"epoch {epoch + 1}: loss {running / len(train_dl):.4f}, test accuracy {correct / len(test_dl.dataset):.3f}")
