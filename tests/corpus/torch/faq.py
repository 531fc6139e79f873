import itertools
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, default_data_collator, set_seed)

set_seed(3)
hours = {"library": "nine", "pool": "seven", "museum": "ten", "bakery": "six",
         "bank": "eight", "gym": "five", "cinema": "noon", "market": "four"}
days = ["monday", "tuesday", "friday", "sunday"]
rows = []
for (place, hour), day in itertools.product(hours.items(), days):
    answer = "closed all day" if day == "sunday" and place in ("bank", "library") else f"at {hour} in the morning"
    rows.append({"question": f"when does the {place} open on {day} ?", "answer": answer})

words = sorted({w for r in rows for w in (r["question"] + " " + r["answer"]).split()})
vocab = {w: i for i, w in enumerate(["<pad>", "<eos>", "<unk>"] + words)}
core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
                              model_input_names=["input_ids", "attention_mask"])
MAXLEN = 20


def encode(row):
    kw = dict(padding="max_length", truncation=True, max_length=MAXLEN)
    full = tok(row["question"] + " " + row["answer"] + " <eos>", **kw)
    prompt = tok(row["question"], **kw)
    n = len(prompt["input_ids"])
    # learn the answer only
    labels = [-100] * n + full["input_ids"][n:]
    full["labels"] = [t if m else -100 for t, m in zip(labels, full["attention_mask"])]
    return full


data = Dataset.from_list(rows).map(encode, remove_columns=["question", "answer"])
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=1, eos_token_id=1, pad_token_id=0))
args = TrainingArguments("out_faq", num_train_epochs=60, per_device_train_batch_size=8, learning_rate=2e-3,
                         logging_steps=40, report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=data, data_collator=default_data_collator)
trainer.train()

model.eval()
right = 0
for row in rows:
    ids = tok(row["question"], return_tensors="pt")
    out = model.generate(input_ids=ids["input_ids"], attention_mask=ids["attention_mask"], max_new_tokens=8, do_sample=False)
    text = tok.decode(out[0, ids["input_ids"].shape[1]:], skip_special_tokens=True)
    right += text == row["answer"]
print("last answer:", text)
print(f"exact answers: {right}/{len(rows)}")
