import random

import torch
import torch.nn.functional as F
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel, Trainer, TrainingArguments, set_seed

set_seed(13)
rnd = random.Random(13)
COLOURS = {"red": "crimson", "blue": "azure", "green": "emerald", "white": "ivory", "black": "ebony", "yellow": "golden"}
THINGS = {"car": "automobile", "sofa": "couch", "phone": "handset", "coat": "jacket", "bike": "bicycle", "lamp": "lantern",
          "boat": "vessel", "rug": "carpet"}
STATES = {"new": "unused", "old": "vintage", "broken": "defective", "cheap": "inexpensive", "small": "compact"}
combos = [(c, t, s) for c in COLOURS for t in THINGS for s in STATES]
rnd.shuffle(combos)


def query(c, t, s):
    return rnd.choice([f"looking for a {s} {c} {t}", f"{c} {t} wanted , {s}", f"want : {t} , {c} , {s}"])


def advert(c, t, s):
    c, t, s = COLOURS[c], THINGS[t], STATES[s]
    return rnd.choice([f"for sale : {s} {t} in {c}", f"{c} {t} , {s} , pick up only", f"selling my {c} and {s} {t}"])


train = Dataset.from_list([{"query": query(*k), "advert": advert(*k)} for k in combos[60:] * 16])
held = combos[:60]

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.normalizer = normalizers.Lowercase()
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(train["query"][:] + train["advert"][:],
                        trainers.WordLevelTrainer(special_tokens=["<s>", "<pad>", "<unk>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", pad_token="<pad>", unk_token="<unk>")


class TwoSides(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = RobertaModel(RobertaConfig(
            vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
            max_position_embeddings=40, pad_token_id=1), add_pooling_layer=False)
        self.log_scale = nn.Parameter(torch.tensor(2.3))

    def embed(self, batch):
        h = self.encoder(**batch).last_hidden_state
        m = batch["attention_mask"].unsqueeze(-1)
        return F.normalize((h * m).sum(1) / m.sum(1), dim=-1)

    def forward(self, query, advert):
        sim = self.embed(query) @ self.embed(advert).T * self.log_scale.exp().clamp(max=50)
        target = torch.arange(len(sim))
        return {"loss": (F.cross_entropy(sim, target) + F.cross_entropy(sim.T, target)) / 2, "logits": sim}


def collate(rows):
    side = lambda k: dict(tok([r[k] for r in rows], padding=True, return_tensors="pt", return_token_type_ids=False))
    return {"query": side("query"), "advert": side("advert")}


model = TwoSides()
args = TrainingArguments("out_pairs", num_train_epochs=4, per_device_train_batch_size=48, learning_rate=1e-3,
                         warmup_steps=20, dataloader_drop_last=True, remove_unused_columns=False, logging_steps=30,
                         save_strategy="no", report_to="none", disable_tqdm=True)
Trainer(model, args, train_dataset=train, data_collator=collate).train()

model.eval()
with torch.no_grad():
    b = collate([{"query": query(*k), "advert": advert(*k)} for k in held])
    rank = (model.embed(b["query"]) @ model.embed(b["advert"]).T).argsort(dim=1, descending=True)
place = (rank == torch.arange(len(held))[:, None]).float().argmax(dim=1)
print(f"unseen combinations: recall@1 {(place == 0).float().mean():.3f}, recall@5 {(place < 5).float().mean():.3f}, "
      f"scale {model.log_scale.exp().item():.1f}")
