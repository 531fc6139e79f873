"""Joint intent and slot model: mixed loss, layer-wise rates, accumulation and an inverse-root schedule in the HF Trainer."""
import random

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertModel, BertPreTrainedModel, Trainer, TrainingArguments, set_seed

CITIES = "paris oslo lima cairo delhi quito rome".split()
DAYS = "monday tuesday friday sunday tomorrow today".split()
SONGS = "yesterday hello thunder dreams paris sunday".split()
TEMPLATES = {
    0: ["book a flight to {c} on {d}", "i need to fly from {c} to {c} {d}", "get me a plane {d} to {c}"],
    1: ["will it rain in {c} {d}", "what is the weather like {d} in {c}", "is {c} warm {d}"],
    2: ["play {s} please", "put on the song {s}", "could you play {s} for me {d}"],
}
TAGS = {"{c}": 1, "{d}": 2, "{s}": 3}
POOL = {"{c}": CITIES, "{d}": DAYS, "{s}": SONGS}


def utterance(rng):
    intent = rng.randrange(3)
    words, tags = [], []
    for w in rng.choice(TEMPLATES[intent]).split():
        tags.append(TAGS.get(w, 0))
        words.append(rng.choice(POOL[w]) if w in POOL else w)
    for _ in range(rng.randint(0, 3)):
        k = rng.randrange(len(words) + 1)
        words.insert(k, rng.choice(["um", "er", "well"]))
        tags.insert(k, 0)
    return words, tags, intent


rng = random.Random(0)
rows = [utterance(rng) for _ in range(3400)]
vocab = {w: i + 2 for i, w in enumerate(sorted({w for r in rows for w in r[0]}))}
items = [{"input_ids": [1] + [vocab[w] for w in ws], "slot_labels": [-100] + tags, "intent": i} for ws, tags, i in rows]


def collate(batch):
    width = max(len(b["input_ids"]) for b in batch)
    fill = lambda key, v: torch.tensor([b[key] + [v] * (width - len(b[key])) for b in batch])
    ids = fill("input_ids", 0)
    slots = torch.nn.functional.pad(fill("slot_labels", -100), (0, 20 - width), value=-100)
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "slot_labels": slots, "intent": torch.tensor([b["intent"] for b in batch])}


class JointModel(BertPreTrainedModel):
    config_class = BertConfig

    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.slots = nn.Linear(config.hidden_size, 4)
        self.intents = nn.Linear(config.hidden_size, 3)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, slot_labels=None, intent=None):
        h = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        slot_logits = nn.functional.pad(self.slots(h), (0, 0, 0, 20 - h.shape[1]))
        intent_logits = self.intents(h[:, 0])
        loss = None
        if intent is not None:
            slot_loss = nn.functional.cross_entropy(slot_logits.flatten(0, 1), slot_labels.flatten(), ignore_index=-100)
            loss = slot_loss + 0.3 * nn.functional.cross_entropy(intent_logits, intent, label_smoothing=0.1)
        return {"loss": loss, "slot_logits": slot_logits, "intent_logits": intent_logits}


def metrics(p):
    slot_logits, intent_logits = p.predictions
    slot_gold, intent_gold = p.label_ids
    real = slot_gold != -100
    filled = real & (slot_gold > 0)
    hit = slot_logits.argmax(-1) == slot_gold
    return {"slot_recall": float(hit[filled].mean()), "token_acc": float(hit[real].mean()),
            "intent_acc": float(np.mean(intent_logits.argmax(-1) == intent_gold))}


set_seed(0)
model = JointModel(BertConfig(vocab_size=len(vocab) + 2, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                              intermediate_size=128, max_position_embeddings=24))
heads = [p for n, p in model.named_parameters() if not n.startswith("bert.")]
body = [p for n, p in model.named_parameters() if n.startswith("bert.")]
optimizer = torch.optim.AdamW([{"params": body, "lr": 1e-3}, {"params": heads, "lr": 5e-3}], weight_decay=0.01)
warm = 40
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / warm, (warm / (s + 1)) ** 0.5))

args = TrainingArguments(
    output_dir="out", num_train_epochs=6, per_device_train_batch_size=8, gradient_accumulation_steps=4,
    per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="no", logging_steps=25, report_to="none",
    disable_tqdm=True, use_cpu=True, label_names=["slot_labels", "intent"],
)
trainer = Trainer(model=model, args=args, train_dataset=items[:3000], eval_dataset=items[3000:], data_collator=collate,
                  compute_metrics=metrics, optimizers=(optimizer, schedule))
trainer.train()
print({k: round(v, 4) for k, v in trainer.evaluate().items()})
