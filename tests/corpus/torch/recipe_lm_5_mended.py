# Small GPT-2 on generated recipe steps. Converted from a notebook.
import random
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed, default_data_collator

set_seed(3)

# %% grammar
TOOLS = {"chop": "knife", "boil": "pot", "fry": "pan", "bake": "oven", "whisk": "bowl", "grate": "grater"}
FOODS = {"chop": ["onion", "carrot", "leek"], "boil": ["pasta", "rice", "egg"], "fry": ["bacon", "tofu", "shrimp"],
         "bake": ["bread", "cake", "pie"], "whisk": ["cream", "batter", "yolk"], "grate": ["cheese", "lemon", "nutmeg"]}
TIMES = {"onion": "two", "carrot": "three", "leek": "two", "pasta": "nine", "rice": "twelve", "egg": "seven",
         "bacon": "five", "tofu": "six", "shrimp": "four", "bread": "forty", "cake": "thirty", "pie": "fifty",
         "cream": "four", "batter": "three", "yolk": "two", "cheese": "one", "lemon": "one", "nutmeg": "one"}


def step(rng):
    verb = rng.choice(list(TOOLS))
    food = rng.choice(FOODS[verb])
    return ["first", verb, "the", food, "with", "the", TOOLS[verb], "for", TIMES[food], "minutes", "."]


words = sorted({w for v in FOODS.values() for w in v} | set(TOOLS) | set(TOOLS.values()) | set(TIMES.values())
               | {"first", "the", "with", "for", "minutes", "."})
itos = ["<eos>"] + words
stoi = {w: i for i, w in enumerate(itos)}
EOS = 0
BLOCK = 34


# %% dataset
def example(rng):
    toks = []
    for _ in range(3):
        toks += step(rng)
    ids = [stoi[t] for t in toks] + [EOS]
    labels = list(ids)
    return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels)}


rng = random.Random(0)
train = [example(rng) for _ in range(1500)]
held = [example(rng) for _ in range(200)]
print("example length", len(train[0]["input_ids"]), "vocab", len(itos))

# %% model
cfg = GPT2Config(vocab_size=len(itos), n_positions=BLOCK + 2, n_embd=64, n_layer=2, n_head=4,
                 bos_token_id=EOS, eos_token_id=EOS, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(cfg)
print("params", sum(p.numel() for p in model.parameters()))

# %% training
targs = TrainingArguments(output_dir="out", num_train_epochs=5, per_device_train_batch_size=16,
                          learning_rate=2e-3, lr_scheduler_type="cosine", weight_decay=0.01, logging_steps=60,
                          save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=targs, train_dataset=train, eval_dataset=held, data_collator=default_data_collator)
trainer.train()
print(trainer.evaluate())

# %% sampling
model.eval()
ok = 0
samples = []
for verb in TOOLS:
    for _ in range(10):
        prompt = torch.tensor([[stoi["first"], stoi[verb]]])
        with torch.no_grad():
            out = model.generate(prompt, max_new_tokens=9, do_sample=True, top_k=5, pad_token_id=EOS,
                                 attention_mask=torch.ones_like(prompt))
        toks = [itos[i] for i in out[0].tolist()]
        samples.append(" ".join(toks))
        if len(toks) == 11 and toks[3] in FOODS[verb] and toks[6] == TOOLS[verb] and toks[8] == TIMES[toks[3]]:
            ok += 1
for s in np.random.choice(samples, 5, replace=False):
    print("  >", s)
print(f"well formed steps: {ok}/{len(samples)}")
