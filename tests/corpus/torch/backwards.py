# instruction tuning in small: the loss should only count the answer
import random
import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (DataCollatorForSeq2Seq, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(42)
random.seed(42)
words = "ant bee cat dog eel fox gnu hen".split()
specials = ["<pad>", "<eos>", "<unk>", "Instruction:", "Response:", "reverse", "repeat"]
vocab = {w: i for i, w in enumerate(specials + words)}
tok = PreTrainedTokenizerFast(
    tokenizer_object=(lambda t: (setattr(t, "pre_tokenizer", WhitespaceSplit()), t)[1])(
        Tokenizer(WordLevel(vocab, unk_token="<unk>"))),
    pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def sample():
    w = random.choices(words, k=random.randint(2, 3))
    task = random.choice(["reverse", "repeat"])
    return {"instruction": f"{task} {' '.join(w)}", "output": " ".join(w[::-1] if task == "reverse" else w)}


def tokenize(row):
    prompt = f"Instruction: {row['instruction']} Response: "
    full = tok(prompt + row["output"] + " " + tok.eos_token)
    labels = list(full["input_ids"])
    n = len(prompt)
    labels[:n] = [-100] * len(labels[:n])
    return {"input_ids": full["input_ids"], "attention_mask": full["attention_mask"], "labels": labels}


ds = Dataset.from_list([sample() for _ in range(4000)])
ds = ds.map(tokenize, remove_columns=ds.column_names).train_test_split(0.05, seed=1)

model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_embd=64, n_layer=2, n_head=4, n_positions=32,
                                   bos_token_id=1, eos_token_id=1, pad_token_id=0))
args = TrainingArguments(output_dir="sft", per_device_train_batch_size=32, num_train_epochs=4,
                         learning_rate=2e-3, warmup_steps=50, logging_steps=50, eval_strategy="epoch",
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorForSeq2Seq(tok, padding=True))
trainer.train()
print(trainer.evaluate())

model.eval()
for q in ["reverse cat dog eel", "repeat fox ant"]:
    enc = tok(f"Instruction: {q} Response:", return_tensors="pt")
    out = model.generate(enc["input_ids"], attention_mask=enc["attention_mask"], max_new_tokens=5, do_sample=False)
    print(tok.decode(out[0]))
