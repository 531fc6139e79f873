"""Masked-word pretraining of a small BERT on harbour log lines."""
import random
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForMaskedLM, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(11)
rng = random.Random(11)

SHIPS = {"alba": ("leith", "timber"), "brig": ("oslo", "salt"), "corona": ("riga", "hemp"), "dora": ("cadiz", "wine"),
         "elsa": ("bergen", "cod"), "fram": ("hull", "coal"), "gull": ("porto", "cork"), "hope": ("malta", "figs")}
DAYS = "monday tuesday wednesday thursday friday saturday".split()


def line():
    ship = rng.choice(list(SHIPS))
    port, cargo = SHIPS[ship]
    return rng.choice([f"the {ship} moored on {rng.choice(DAYS)} from {port} with {cargo}",
                       f"on {rng.choice(DAYS)} the {ship} brought {cargo} out of {port}",
                       f"{cargo} of {port} was landed by the {ship}"])


lines = [line() for _ in range(1400)]
words = sorted({w for t in lines for w in t.split()})
vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words)}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]", mask_token="[MASK]")


class Log(Dataset):
    def __init__(self, texts):
        self.rows = [tokenizer(t, return_special_tokens_mask=True) for t in texts]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return dict(self.rows[i])


@dataclass
class MaskWords:
    tokenizer: PreTrainedTokenizerFast
    rate: float = 0.2

    def __call__(self, rows):
        batch = self.tokenizer.pad(rows, return_tensors="pt")
        special = batch.pop("special_tokens_mask").bool() | (batch["attention_mask"] == 0)
        labels = batch["input_ids"].clone()
        chosen = (torch.rand(labels.shape) < self.rate) & ~special
        batch["input_ids"][chosen] = self.tokenizer.mask_token_id
        labels[~chosen] = -1
        batch["labels"] = labels
        return batch


model = BertForMaskedLM(BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                   intermediate_size=128, max_position_embeddings=32))
args = TrainingArguments(output_dir="mooring", num_train_epochs=12, per_device_train_batch_size=32, learning_rate=2e-3,
                         warmup_ratio=0.1, logging_steps=50, save_strategy="no", eval_strategy="epoch", report_to="none",
                         remove_unused_columns=False, disable_tqdm=True)
trainer = Trainer(model=model, args=args, data_collator=MaskWords(tokenizer), train_dataset=Log(lines[:1200]),
                  eval_dataset=Log(lines[1200:]))
trainer.train()
print(trainer.evaluate())

model.eval()
hits = 0
for ship, (port, cargo) in SHIPS.items():
    enc = tokenizer(f"the {ship} moored on friday from {port} with [MASK]", return_tensors="pt")
    enc.pop("token_type_ids", None)
    with torch.no_grad():
        logits = model(**enc).logits
    spot = (enc["input_ids"][0] == tokenizer.mask_token_id).nonzero().item()
    hits += tokenizer.convert_ids_to_tokens(logits[0, spot].argmax().item()) == cargo
print("cargo named right:", hits, "of", len(SHIPS))
