import random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

torch.manual_seed(3)
random.seed(3)

# notes get a title: the two words that the note begins with
words = ("apple river stone cloud tiger paper glass music train light house bread sugar chair plant horse "
         "ocean clock shirt field tower knife queen month piano smoke truck wheel salad radio").split()
vocab = {w: i for i, w in enumerate(["<eos>", "=>"] + words)}
base = Tokenizer(models.WordLevel(vocab, unk_token="<eos>"))
base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=base, eos_token="<eos>", padding_side="right")
tokenizer.pad_token = tokenizer.eos_token


def note():
    text = random.choices(words, k=random.randint(3, 16))
    return " ".join(text) + " =>", " ".join(text[:2])


def collate(rows):
    enc = tokenizer([f"{note} {title} <eos>" for note, title in rows], padding=True, return_tensors="pt")
    labels = enc["input_ids"].masked_fill(enc["attention_mask"] == 0, -100)
    for i, (text, _) in enumerate(rows):
        labels[i, :len(text.split())] = -100
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


train = DataLoader([note() for _ in range(4000)], batch_size=40, shuffle=True, collate_fn=collate)
valid = [note() for _ in range(200)]

model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for epoch in range(5):
    model.train()
    total = 0.0
    for batch in train:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}  loss {total / len(train):.4f}")

model.eval()
tokenizer.padding_side = "left"
right = 0
for i in range(0, len(valid), 20):
    chunk = valid[i:i + 20]
    enc = tokenizer([text for text, _ in chunk], padding=True, return_tensors="pt")
    out = model.generate(enc["input_ids"], max_new_tokens=3, do_sample=False, pad_token_id=0)
    answers = tokenizer.batch_decode(out[:, enc["input_ids"].shape[1]:], skip_special_tokens=True)
    right += sum(a.strip() == title for a, (_, title) in zip(answers, chunk))
    if i == 0:
        for (text, title), a in list(zip(chunk, answers))[:4]:
            print(f"{text!r:80} wanted {title!r} got {a!r}")
print(f"titles that are right: {right / len(valid):.3f}")
