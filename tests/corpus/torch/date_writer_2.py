import random
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(2)
rnd = random.Random(2)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def make_pair(d, m, w):
    prompt = f"{d} {MONTHS[m]}"
    answer = f"{m + 1} / {d}"
    if w is not None:
        prompt = f"{WEEKDAYS[w]} {prompt}"
        answer = f"{answer} ( {WEEKDAYS[w]} )"
    return prompt + " =", answer


words = ["<|endoftext|>", "<|pad|>", "=", "/", "(", ")"] + MONTHS + WEEKDAYS + [str(i) for i in range(1, 32)]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<|endoftext|>"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|endoftext|>", bos_token="<|endoftext|>")
tokenizer.pad_token = tokenizer.eos_token

combos = [(d, m, w) for d in range(1, 29) for m in range(12) for w in [None, *range(7)]]
rnd.shuffle(combos)
pairs = [make_pair(*c) for c in combos[:2000]]
test_pairs = [make_pair(*c) for c in combos[2000:2060]]


def to_ids(batch):
    texts = [f"{p} {a} {tokenizer.eos_token}" for p, a in zip(batch["prompt"], batch["answer"])]
    return tokenizer(texts, truncation=True, max_length=20, return_token_type_ids=False)


def as_dataset(items):
    ds = Dataset.from_dict({"prompt": [p for p, _ in items], "answer": [a for _, a in items]})
    return ds.map(to_ids, batched=True, remove_columns=["prompt", "answer"])


model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    pad_token_id=tokenizer.pad_token_id))

collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
training_args = TrainingArguments(
    output_dir="out", num_train_epochs=5, per_device_train_batch_size=32, learning_rate=3e-3,
    lr_scheduler_type="cosine", warmup_ratio=0.05, eval_strategy="epoch", save_strategy="no",
    logging_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=training_args, train_dataset=as_dataset(pairs),
                  eval_dataset=as_dataset(test_pairs), data_collator=collator)
trainer.train()


def answer_for(prompt, limit=15):
    enc = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
    out = model.generate(**enc, max_new_tokens=limit, do_sample=False)
    new = out[0, enc["input_ids"].shape[1]:]
    return tokenizer.decode(new, skip_special_tokens=True).strip(), len(new)


model.eval()
exact, lengths = 0, []
for prompt, expected in test_pairs:
    text, n = answer_for(prompt)
    exact += text == expected
    lengths.append(n)
print("sample:", test_pairs[0][0], "->", answer_for(test_pairs[0][0])[0])
print(f"eval loss {trainer.evaluate()['eval_loss']:.4f}")
print(f"exact match {exact / len(test_pairs):.3f}   mean generated tokens {sum(lengths) / len(lengths):.1f}")
