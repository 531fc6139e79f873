import random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

random.seed(0)
torch.manual_seed(0)
animals = {"cow": "grass", "cat": "fish", "owl": "mice", "bee": "nectar", "pig": "roots", "bear": "honey",
           "goat": "leaves", "seal": "squid", "hen": "corn", "fox": "rabbits"}
colors = {"sky": "blue", "snow": "white", "coal": "black", "blood": "red", "lemon": "yellow", "moss": "green"}
pairs = []
for _ in range(1200):
    if random.random() < 0.6:
        a = random.choice(list(animals))
        pairs.append((random.choice(["what does a {} eat ?", "tell me the food of a {} ."]).format(a), f"a {a} eats {animals[a]} ."))
    else:
        c = random.choice(list(colors))
        pairs.append((random.choice(["which color has {} ?", "name the color of {} please ."]).format(c), f"{c} is {colors[c]} ."))

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
raw.train_from_iterator([f"{q} {a}" for q, a in pairs],
                        trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "<user>", "<bot>", "<eos>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>", eos_token="<eos>",
                                    additional_special_tokens=["<user>", "<bot>"])
MAX_LEN = 24


def encode(text):
    return tokenizer(text, padding="max_length", truncation=True, max_length=MAX_LEN, return_tensors="pt")


class ChatData(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        q, a = self.rows[i]
        prompt = f"<user> {q} <bot>"
        full = encode(f"{prompt} {a} <eos>")
        input_ids, mask = full["input_ids"][0], full["attention_mask"][0]
        prompt_len = encode(prompt)["input_ids"].shape[1]
        labels = input_ids.clone()
        labels[:prompt_len] = -100
        labels[mask == 0] = -100
        return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=MAX_LEN, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=4, eos_token_id=4, pad_token_id=0))
loader = DataLoader(ChatData(pairs), batch_size=16, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    model.train()
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 25 == 0:
            print(f"epoch {epoch} step {step:3d} loss {loss.item():.4f}")

model.eval()
for q in ["what does a owl eat ?", "which color has moss ?", "tell me the food of a bear ."]:
    ids = tokenizer(f"<user> {q} <bot>", return_tensors="pt")
    out = model.generate(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"], max_new_tokens=6, do_sample=False)
    print(q, "->", tokenizer.decode(out[0, ids["input_ids"].shape[1]:]))
