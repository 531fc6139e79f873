import random
import numpy as np
from datasets import Dataset
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          T5Config, T5ForConditionalGeneration, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors

set_seed(13)
UNITS = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n >= 100:
        return UNITS[n // 100] + " hundred" + (" " + spell(n % 100) if n % 100 else "")
    if n >= 20:
        return TENS[n // 10] + (" " + UNITS[n % 10] if n % 10 else "")
    return TEENS[n - 10] if n >= 10 else UNITS[n]


def tokenizer():
    words = ["<pad>", "</s>", "<unk>", "hundred"] + UNITS + TEENS + TENS[2:] + list("0123456789")
    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


tok = tokenizer()
numbers = list(range(1000))
random.shuffle(numbers)


def make(ns):
    rows = Dataset.from_dict({"src": [spell(n) for n in ns], "tgt": [" ".join(str(n)) for n in ns]})
    return rows.map(lambda b: tok(b["src"], text_target=b["tgt"], return_token_type_ids=False), batched=True, remove_columns=["src", "tgt"])


def exact(pred):
    guess, gold = pred
    guess = np.where(guess < 0, tok.pad_token_id, guess)
    gold = np.where(gold < 0, tok.pad_token_id, gold)
    a = tok.batch_decode(guess, skip_special_tokens=True)
    b = tok.batch_decode(gold, skip_special_tokens=True)
    return {"exact": sum(x == y for x, y in zip(a, b)) / len(b)}


model = T5ForConditionalGeneration(T5Config(
    vocab_size=len(tok), d_model=48, d_kv=12, num_heads=4, d_ff=96, num_layers=2, dropout_rate=0.0,
    pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, tie_word_embeddings=False))

trainer = Seq2SeqTrainer(
    model=model,
    args=Seq2SeqTrainingArguments(
        "t5_numbers", num_train_epochs=12, per_device_train_batch_size=16, gradient_accumulation_steps=2,
        per_device_eval_batch_size=100, learning_rate=4e-3, group_by_length=True, lr_scheduler_type="linear",
        warmup_steps=20, predict_with_generate=True, generation_max_length=8, save_strategy="no",
        logging_steps=100, report_to="none", use_cpu=True, disable_tqdm=True),
    train_dataset=make(numbers[:800]),
    eval_dataset=make(numbers[800:]),
    data_collator=DataCollatorForSeq2Seq(tok, model=model),
    compute_metrics=exact,
)
trainer.train()
print(trainer.evaluate())
