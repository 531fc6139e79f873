"""Tag words of herbarium labels (collector, place, year) with a small BERT; accumulation over micro-batches weighted by token count."""
import random

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import BertConfig, BertForTokenClassification

random.seed(3)
torch.manual_seed(3)

FIRST = "anna boris clara dmitri edith felix greta hugo".split()
LAST = "berg lund marsh holm stone field".split()
SPOTS = "marsh stone field river hill forest lake berg".split()
NOISE = "on the near collected in by and dry wet sheet no leaf flower".split()
YEARS = [str(y) for y in range(1880, 1920)]
VOCAB = {w: i for i, w in enumerate(["[PAD]"] + sorted(set(FIRST + LAST + SPOTS + NOISE + YEARS)))}
TAGS = ["O", "PERSON", "PLACE", "YEAR"]


def label():
    person = [(random.choice(FIRST), 1), (random.choice(LAST), 1)]
    place = [("near", 0), (random.choice(SPOTS), 2), (random.choice(SPOTS), 2)]
    year = [("in", 0), (random.choice(YEARS), 3)]
    parts = [[("collected", 0), ("by", 0)] + person, place, year]
    random.shuffle(parts)
    out = []
    for part in parts:
        out += part + [(w, 0) for w in random.choices(["dry", "wet", "sheet", "leaf", "flower", "the"], k=random.randint(0, 6))]
    return out


def tensors(rows):
    ids = [torch.tensor([VOCAB[w] for w, _ in r]) for r in rows]
    tags = [torch.tensor([t for _, t in r]) for r in rows]
    ids = pad_sequence(ids, batch_first=True)
    return ids, (ids != 0).long(), pad_sequence(tags, batch_first=True, padding_value=-100)


train, test = [label() for _ in range(2000)], [label() for _ in range(400)]
model = BertForTokenClassification(BertConfig(
    vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=48, num_labels=len(TAGS)))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
summed = torch.nn.CrossEntropyLoss(ignore_index=-100, reduction="sum")

MICRO, ACCUM = 8, 4
for epoch in range(6):
    model.train()
    # similar lengths together, then the order of the groups is drawn
    by_len = sorted(train, key=lambda r: (len(r), random.random()))
    groups = [by_len[i:i + MICRO * ACCUM] for i in range(0, len(by_len), MICRO * ACCUM)]
    random.shuffle(groups)
    nll = words = 0
    for group in groups:
        n_words = sum(len(r) for r in group)
        opt.zero_grad()
        for i in range(0, len(group), MICRO):
            ids, mask, tags = tensors(group[i:i + MICRO])
            logits = model(input_ids=ids, attention_mask=mask).logits
            loss = summed(logits.flatten(0, 1), tags.flatten())
            (loss / n_words).backward()
            nll += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        words += n_words
    model.eval()
    ids, mask, tags = tensors(test)
    with torch.no_grad():
        guess = model(input_ids=ids, attention_mask=mask).logits.argmax(-1)
    keep = tags != -100
    print(f"epoch {epoch} nll per word {nll / words:.4f} test word accuracy {(guess[keep] == tags[keep]).float().mean().item():.4f}")
