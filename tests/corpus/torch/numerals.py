import numpy as np
from datasets import Dataset
from transformers import (Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration, set_seed)
import torch

set_seed(1)
ones = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
tens = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n < 20:
        return [ones[n]]
    if n < 100:
        return [tens[n // 10]] + ([ones[n % 10]] if n % 10 else [])
    return [ones[n // 100], "hundred"] + (["and"] + spell(n % 100) if n % 100 else [])


vocab = {"<pad>": 0, "</s>": 1}
for w in ones + tens[2:] + ["hundred", "and"] + list("0123456789"):
    vocab[w] = len(vocab)
back = {i: w for w, i in vocab.items()}


def row(n):
    return {"input_ids": [vocab[w] for w in spell(n)] + [1], "labels": [vocab[c] for c in str(n)] + [1]}


order = np.random.permutation(1000)
train = Dataset.from_list([row(int(n)) for n in order[:850]])
test = Dataset.from_list([row(int(n)) for n in order[850:]])


def collate(rows):
    def pad(key, value):
        width = max(len(r[key]) for r in rows)
        return torch.tensor([r[key] + [value] * (width - len(r[key])) for r in rows])
    ids = pad("input_ids", 0)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": pad("labels", -100)}


model = T5ForConditionalGeneration(T5Config(
    vocab_size=len(vocab), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.05,
    decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))


def text(ids):
    return "".join(back[int(i)] for i in ids if i > 1)


def exact(p):
    pairs = [(text(a), text(b)) for a, b in zip(p.predictions, p.label_ids)]
    return {"exact": float(np.mean([a == b for a, b in pairs]))}


args = Seq2SeqTrainingArguments("out_numerals", num_train_epochs=30, per_device_train_batch_size=32,
                                per_device_eval_batch_size=50, learning_rate=3e-3, logging_steps=81, save_strategy="no",
                                predict_with_generate=True, generation_max_length=6, report_to="none", use_cpu=True,
                                disable_tqdm=True)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=train, eval_dataset=test, data_collator=collate,
                         compute_metrics=exact)
trainer.train()
print(trainer.evaluate())
out = model.generate(torch.tensor([row(742)["input_ids"]]), max_length=6)
print("seven hundred and forty two ->", text(out[0]))
