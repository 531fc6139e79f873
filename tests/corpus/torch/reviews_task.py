# plain loop with a transformers model; reviews come in buckets of similar length
import random
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_cosine_schedule_with_warmup

torch.manual_seed(14)
random.seed(14)
good, bad, plain = list(range(10, 25)), list(range(25, 40)), list(range(40, 140))


def review():
    label = random.randint(0, 1)
    words = random.choices(plain, k=random.randint(5, 35)) + random.choices(good if label else bad, k=3)
    random.shuffle(words)
    return [1] + words, label


def batches(rows, size):
    rows = sorted(rows, key=lambda r: len(r[0]))
    chunks = [rows[i:i + size] for i in range(0, len(rows), size)]
    random.shuffle(chunks)
    for chunk in chunks:
        width = max(len(ids) for ids, _ in chunk)
        ids = torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in chunk])
        yield ids, (ids != 0).long(), torch.tensor([y for _, y in chunk])


train_rows, test_rows = [review() for _ in range(1600)], [review() for _ in range(400)]
model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=140, dim=48, hidden_dim=96, n_layers=2, n_heads=4, max_position_embeddings=48, num_labels=2, pad_token_id=0))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = get_cosine_schedule_with_warmup(optimizer, 20, 5 * 50)

for epoch in range(5):
    model.train()
    losses = []
    for ids, mask, y in batches(train_rows, 32):
        out = model(input_ids=ids, attention_mask=mask, labels=y)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(out.loss.item())
    model.eval()
    hits = 0
    with torch.no_grad():
        for ids, mask, y in batches(test_rows, 64):
            hits += (model(ids, mask).logits.argmax(-1) == y).sum().item()
    print(f"epoch {epoch}  loss {sum(losses) / len(losses):.3f}  accuracy {hits / len(test_rows):.3f}")
