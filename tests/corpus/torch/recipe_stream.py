"""Small causal language model on an endless stream of recipes, packed to blocks; tied embeddings; Trainer with max_steps."""
import itertools
import math
import random

import torch
from torch.utils.data import Dataset, IterableDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, default_data_collator, set_seed

set_seed(6)
VERBS = {"chop": ["onion", "carrot", "leek"], "boil": ["rice", "pasta", "egg"], "whisk": ["cream", "egg", "butter"],
         "roast": ["carrot", "beet", "squash"]}
PAN = {"chop": "board", "boil": "pot", "whisk": "bowl", "roast": "oven"}
TIME = {"rice": "twelve", "pasta": "nine", "egg": "six", "onion": "two", "carrot": "four", "leek": "three", "cream": "five",
        "butter": "one", "beet": "forty", "squash": "thirty"}
words = ["<eos>", "<unk>", "then", "in", "the", "for", "minutes", "serve"] + sorted(
    set(VERBS) | {i for v in VERBS.values() for i in v} | set(PAN.values()) | set(TIME.values()))
STOI = {w: i for i, w in enumerate(words)}


def recipe(r):
    out = []
    for k in range(r.randint(1, 4)):
        v = r.choice(sorted(VERBS))
        i = r.choice(VERBS[v])
        out += (["then"] if k else []) + [v, "the", i, "in", "the", PAN[v], "for", TIME[i], "minutes"]
    return out + ["serve", "<eos>"]


class Stream(IterableDataset):
    """No length: recipes are made on the fly, glued together and cut every `block` tokens."""

    def __init__(self, block=32, seed=1):
        self.block, self.seed = block, seed

    def __iter__(self):
        r, buf = random.Random(self.seed), []
        while True:
            while len(buf) < self.block:
                buf += [STOI.get(w, STOI["<unk>"]) for w in recipe(r)]
            ids = torch.tensor(buf[:self.block])
            del buf[:self.block]
            yield {"input_ids": ids, "labels": ids}         # the model shifts by itself


class Frozen(Dataset):
    def __init__(self, n, seed):
        self.rows = list(itertools.islice(Stream(seed=seed), n))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Average(TrainerCallback):
    """Running average of the weights, put in place for evaluation and taken out afterwards."""

    def __init__(self, model, decay=0.98):
        self.decay, self.shadow = decay, {n: p.detach().clone() for n, p in model.named_parameters()}

    def on_step_end(self, args, state, control, model=None, **kw):
        d = min(self.decay, (1 + state.global_step) / (10 + state.global_step))
        with torch.no_grad():
            for n, p in model.named_parameters():
                self.shadow[n].lerp_(p, 1 - d)

    def swap(self, model):
        with torch.no_grad():
            for n, p in model.named_parameters():
                kept = p.detach().clone()
                p.copy_(self.shadow[n])
                self.shadow[n] = kept


config = GPT2Config(vocab_size=len(words), n_positions=32, n_embd=48, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0,
                    attn_pdrop=0.0, bos_token_id=0, eos_token_id=0, tie_word_embeddings=True)
model = GPT2LMHeadModel(config)
assert model.lm_head.weight is model.transformer.wte.weight
average = Average(model)
args = TrainingArguments(output_dir="out", max_steps=800, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, learning_rate=3e-3, lr_scheduler_type="cosine_with_restarts",
                         lr_scheduler_kwargs={"num_cycles": 2}, warmup_steps=20, weight_decay=0.01, eval_strategy="steps",
                         eval_steps=200, logging_steps=50, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
                         seed=6)
held = Frozen(200, seed=12345)
trainer = Trainer(model=model, args=args, train_dataset=Stream(), eval_dataset=held, data_collator=default_data_collator,
                  callbacks=[average])
trainer.train()
plain = trainer.evaluate()["eval_loss"]
average.swap(model)
smooth = trainer.evaluate()["eval_loss"]
print(f"perplexity: last weights {math.exp(plain):.3f}, averaged weights {math.exp(smooth):.3f}")
prompt = torch.tensor([[STOI["boil"], STOI["the"], STOI["rice"]]])
out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=7, do_sample=False, pad_token_id=0)
print(" ".join(words[i] for i in out[0].tolist()))
