import random

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForMultipleChoice, BertTokenizer

random.seed(8)
torch.manual_seed(8)

scenes = {
    "sam is baking bread": ["he kneads the dough", "he heats the oven", "he waits for the yeast"],
    "mia is painting a fence": ["she stirs the paint", "she wipes the brush", "she covers the grass"],
    "leo is repairing a bike": ["he patches the tube", "he oils the gears", "he tightens the wheel"],
    "ana is planting a garden": ["she waters the seeds", "she digs a hole", "she spreads the compost"],
    "tom is washing the car": ["he rinses the soap", "he polishes the hood", "he fills the bucket"],
    "eva is packing for a trip": ["she folds the shirts", "she finds her passport", "she closes the suitcase"],
    "ben is building a shelf": ["he measures the board", "he hammers the nails", "he sands the wood"],
    "liz is playing chess": ["she moves the knight", "she takes the pawn", "she protects the king"],
}
places = ["this morning", "after lunch", "in the evening", "on sunday", "with a friend"]
names = list(scenes)

words = sorted(set(" ".join(names + places + sum(scenes.values(), [])).split()))
with open("whatnext_vocab.txt", "w") as f:
    f.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words))
tokenizer = BertTokenizer("whatnext_vocab.txt")


def make(n):
    rows = []
    for _ in range(n):
        s = random.choice(names)
        wrong = random.sample([x for x in names if x != s], 3)
        label = random.randrange(4)
        endings = [random.choice(scenes[w]) for w in wrong]
        endings.insert(label, random.choice(scenes[s]))
        rows.append((s + " " + random.choice(places), endings, label))
    return rows


def collate(rows):
    first = [r[0] for r in rows for _ in range(4)]
    second = [e for r in rows for e in r[1]]
    enc = tokenizer(first, second, padding=True, return_tensors="pt")
    enc = {k: v.view(len(rows), 4, -1) for k, v in enc.items()}
    enc["labels"] = torch.tensor([r[2] for r in rows])
    return enc


train_loader = DataLoader(make(800), batch_size=16, shuffle=True, collate_fn=collate)
test_loader = DataLoader(make(200), batch_size=16, shuffle=True, collate_fn=collate)

model = BertForMultipleChoice(BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2,
                                         num_attention_heads=4, intermediate_size=128, max_position_embeddings=32, hidden_dropout_prob=0.0))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(8):
    model.train()
    total = 0
    for batch in train_loader:
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", total / len(train_loader))

model.eval()
y_pred, y_true = [], []
with torch.no_grad():
    for batch in test_loader:
        y_pred += model(**batch).logits.argmax(-1).tolist()
for batch in test_loader:
    y_true += batch["labels"].tolist()
print("accuracy", sum(p == t for p, t in zip(y_pred, y_true)) / len(y_true))
