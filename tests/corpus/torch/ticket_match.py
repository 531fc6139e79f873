# sentence embeddings for support tickets: paraphrases close, others far (in-batch negatives)
import random
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertModel, PreTrainedTokenizerFast

random.seed(5)
torch.manual_seed(5)
problem = {"login": ["cannot sign in", "login fails", "password is refused"], "refund": ["want my money back", "please refund"],
           "slow": ["page takes forever to load", "very slow site", "it hangs"], "crash": ["app closes by itself", "it crashes"],
           "parcel": ["parcel never came", "where is my delivery", "package got lost"]}
device = {"phone": ["my phone", "android mobile"], "laptop": ["the laptop", "a notebook computer"], "tablet": ["my tablet", "ipad"]}
when = {"am": ["this morning", "early today"], "eve": ["last night", "yesterday evening"], "week": ["since a week", "for seven days"]}


def ticket(p, d, w):
    bits = [random.choice(problem[p]), "on " + random.choice(device[d]), random.choice(when[w])]
    random.shuffle(bits)
    return " ".join(bits)


keys = [(p, d, w) for p in problem for d in device for w in when]
pairs = [(ticket(*k), ticket(*k)) for k in random.choices(keys, k=2400)]

core = Tokenizer(models.WordLevel(unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.train_from_iterator((t for p in pairs for t in p), trainers.WordLevelTrainer(special_tokens=["[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]")
tokenizer.add_special_tokens({"pad_token": "[PAD]"})

config = DistilBertConfig(vocab_size=tokenizer.vocab_size, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32)
encoder = DistilBertModel(config)


def embed(texts):
    enc = tokenizer(list(texts), padding=True, truncation=True, max_length=32, return_tensors="pt",
                    return_token_type_ids=False)
    hidden = encoder(**enc).last_hidden_state
    mask = enc["attention_mask"].unsqueeze(-1)
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


loader = DataLoader(pairs, batch_size=32, shuffle=True, drop_last=True)
optimizer = torch.optim.AdamW(encoder.parameters(), lr=5e-4)
for epoch in range(4):
    encoder.train()
    total = 0.0
    for left, right in loader:
        sims = embed(left) @ embed(right).T / 0.07
        loss = F.cross_entropy(sims, torch.arange(len(sims)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    encoder.eval()
    with torch.no_grad():
        queries, pool = embed([ticket(*k) for k in keys]), embed([ticket(*k) for k in keys])
        top1 = ((queries @ pool.T).argmax(1) == torch.arange(len(keys))).float().mean().item()
    print(f"epoch {epoch + 1}: loss {total / len(loader):.3f}  retrieval top-1 {top1:.3f} of {len(keys)} tickets")
