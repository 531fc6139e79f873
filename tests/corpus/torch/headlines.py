import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import AdamW, ElectraConfig, ElectraForSequenceClassification, get_linear_schedule_with_warmup

torch.manual_seed(17)

SECTIONS = ["sport", "politics", "science"]
n, length, vocab = 2100, 12, 120
labels = torch.randint(0, 3, (n,))
ids = torch.randint(5, 90, (n, length))
for i, label in enumerate(labels.tolist()):
    where = torch.randperm(length - 1)[:3] + 1
    ids[i, where] = torch.randint(90 + 10 * label, 100 + 10 * label, (3,))
ids[:, 0] = 2
mask = torch.ones_like(ids)

train_loader = DataLoader(TensorDataset(ids[:1800], mask[:1800], labels[:1800]), batch_size=24, shuffle=True)
test_loader = DataLoader(TensorDataset(ids[1800:], mask[1800:], labels[1800:]), batch_size=50)

config = ElectraConfig(vocab_size=vocab, embedding_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=96, max_position_embeddings=16, num_labels=len(SECTIONS))
model = ElectraForSequenceClassification(config)

epochs = 8
optimizer = AdamW(model.parameters(), lr=2e-3, eps=1e-8)
total_steps = epochs * len(train_loader)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=total_steps // 10, num_training_steps=total_steps)

for epoch in range(epochs):
    model.train()
    total = 0.0
    for input_ids, attention_mask, y in train_loader:
        model.zero_grad()
        out = model(input_ids=input_ids, attention_mask=attention_mask, labels=y)
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += out.loss.item()

    model.eval()
    correct = 0
    with torch.no_grad():
        for input_ids, attention_mask, y in test_loader:
            logits = model(input_ids=input_ids, attention_mask=attention_mask).logits
            correct += (logits.argmax(-1) == y).sum().item()
    print(f"Epoch {epoch + 1}: avg train loss {total / len(train_loader):.3f}, accuracy {correct / 300:.3f}")
