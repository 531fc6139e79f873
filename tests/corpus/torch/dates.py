import random

import numpy as np
from datasets import Dataset
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration, set_seed)

set_seed(8)
rnd = random.Random(8)
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december"]


def pair():
    d, m, y = rnd.randint(1, 28), rnd.randint(1, 12), rnd.randint(1950, 2019)
    name = MONTHS[m - 1]
    src = rnd.choice([f"{d} {name} {y}", f"{name} {d} {y}", f"{name[:3]} {d} {y}", f"{d:02d} / {m:02d} / {y}"])
    return {"src": src, "tgt": f"{y}-{m:02d}-{d:02d}"}


data = Dataset.from_list([pair() for _ in range(4000)]).train_test_split(test_size=200, seed=0)

backend = Tokenizer(models.WordLevel(unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"[a-z]+|[0-9]+|\S"), behavior="isolated")])
backend.train_from_iterator(data["train"]["src"][:] + data["train"]["tgt"][:],
                            trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def encode(batch):
    enc = tok([s + "</s>" for s in batch["src"]])
    enc["labels"] = tok([t + "</s>" for t in batch["tgt"]])["input_ids"]
    return enc


data = data.map(encode, batched=True, remove_columns=["src", "tgt"])
model = T5ForConditionalGeneration(T5Config(
    vocab_size=len(tok), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.05,
    decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))


def compute_metrics(p):
    preds = np.where(p.predictions != -100, p.predictions, tok.pad_token_id)
    labels = np.where(p.label_ids != -100, p.label_ids, tok.pad_token_id)
    got = [s.replace(" ", "") for s in tok.batch_decode(preds, skip_special_tokens=True)]
    want = [s.replace(" ", "") for s in tok.batch_decode(labels, skip_special_tokens=True)]
    return {"exact": float(np.mean([g == w for g, w in zip(got, want)])),
            "year": float(np.mean([g[:4] == w[:4] for g, w in zip(got, want)]))}


args = Seq2SeqTrainingArguments(
    "out_dates", num_train_epochs=6, per_device_train_batch_size=64, per_device_eval_batch_size=100,
    learning_rate=3e-3, warmup_steps=40, predict_with_generate=True, generation_max_length=8,
    eval_strategy="steps", eval_steps=120, logging_steps=40, save_strategy="no", report_to="none",
    disable_tqdm=True)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                         data_collator=DataCollatorForSeq2Seq(tok, model=model), processing_class=tok,
                         compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
