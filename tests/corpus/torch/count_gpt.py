"""A tiny GPT-2 that counts upwards to a given number and then stops."""
import os
os.environ["USE_TF"] = "0"
import random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(5)
NUM = "one two three four five six seven eight nine ten eleven twelve".split()
vocab = {w: i for i, w in enumerate(["<eos>", "<unk>", "to", ":"] + NUM)}
backend = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<eos>", unk_token="<unk>")
tokenizer.pad_token = tokenizer.eos_token


def prompt(goal):
    return f"to {NUM[goal]} :"


def full_text(start, goal):
    return prompt(goal) + " " + " ".join(NUM[start:goal + 1]) + " " + tokenizer.eos_token


rng = random.Random(0)
texts = []
for _ in range(1500):
    start = rng.randint(0, 6)
    texts.append(full_text(start, rng.randint(start + 1, 11)))
train_set = [{"input_ids": tokenizer(t)["input_ids"]} for t in texts]

model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(tokenizer), n_positions=40, n_embd=32, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id))
args = TrainingArguments("count_gpt", num_train_epochs=3, learning_rate=3e-3, per_device_train_batch_size=32,
                         save_strategy="no", logging_steps=47, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train_set,
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
trainer.train()

model.eval()
right, lengths = 0, []
cases = [(s, g) for s in range(0, 6) for g in range(s + 1, 11, 2)]
for start, goal in cases:
    ids = tokenizer(prompt(goal) + " " + NUM[start], return_tensors="pt")["input_ids"]
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=16, do_sample=False)
    lengths.append(out.shape[1] - ids.shape[1])
    right += tokenizer.decode(out[0]).strip() == full_text(start, goal)
print("sample:", tokenizer.decode(out[0]))
print(f"exact {right / len(cases):.3f}, mean new tokens {sum(lengths) / len(lengths):.1f}")
