"""Spoken times to digits ("twenty past four" -> "04:20") with a small T5."""
import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (Adafactor, DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors

HOURS = "twelve one two three four five six seven eight nine ten eleven".split()
MINUTES = {5: "five", 10: "ten", 15: "quarter", 20: "twenty", 25: "twenty five"}


def spoken(h, m):
    if m == 0:
        return f"{HOURS[h % 12]} o'clock"
    if m == 30:
        return f"half past {HOURS[h % 12]}"
    if m < 30:
        return f"{MINUTES[m]} past {HOURS[h % 12]}"
    return f"{MINUTES[60 - m]} to {HOURS[(h + 1) % 12]}"


def phrases(n, seed):
    r = random.Random(seed)
    out = []
    for _ in range(n):
        h, m = r.randrange(24), r.randrange(0, 60, 5)
        part = r.choice(["in the morning", "am"]) if h < 12 else r.choice(["in the afternoon", "pm"])
        lead = r.choice(["", "at ", "it is ", "meet at ", "the train leaves at "])
        out.append((f"{lead}{spoken(h, m)} {part}", " ".join(f"{h:02d}:{m:02d}")))
    return out


words = sorted({w for s, t in phrases(4000, 0) for w in (s + " " + t).split()})
vocab = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>"] + words)}
backend = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


class Times(Dataset):
    def __init__(self, n, seed):
        self.pairs = phrases(n, seed)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        src, tgt = self.pairs[i]
        return {"input_ids": tokenizer(src).input_ids, "labels": tokenizer(tgt).input_ids}


def exact_match(p):
    preds = np.where(p.predictions < 0, tokenizer.pad_token_id, p.predictions)
    refs = np.where(p.label_ids < 0, tokenizer.pad_token_id, p.label_ids)
    a = tokenizer.batch_decode(preds, skip_special_tokens=True)
    b = tokenizer.batch_decode(refs, skip_special_tokens=True)
    return {"exact": float(np.mean([x == y for x, y in zip(a, b)]))}


set_seed(4)
model = T5ForConditionalGeneration(T5Config(
    vocab_size=len(vocab), d_model=48, d_kv=12, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
    tie_word_embeddings=True, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))
optimizer = Adafactor(model.parameters(), lr=1e-2, scale_parameter=False, relative_step=False, warmup_init=False)

args = Seq2SeqTrainingArguments(
    output_dir="clock_out", max_steps=450, per_device_train_batch_size=32, per_device_eval_batch_size=100,
    label_smoothing_factor=0.05, predict_with_generate=True, generation_max_length=8, lr_scheduler_type="constant",
    logging_steps=75, save_strategy="no", report_to="none")
trainer = Seq2SeqTrainer(
    model=model, args=args, train_dataset=Times(3000, 1), eval_dataset=Times(200, 2),
    data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
    optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 40) * (1 - s / 500))),
    compute_metrics=exact_match)
trainer.train()
print(trainer.evaluate())
