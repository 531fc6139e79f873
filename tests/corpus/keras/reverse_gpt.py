import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import random
import numpy as np
import tensorflow as tf
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, PreTrainedTokenizerFast, TFGPT2LMHeadModel

tf.keras.utils.set_random_seed(1)
random.seed(1)
LETTERS = "abcdefgh"
MAX_LEN = 14

vocab = {tok: i for i, tok in enumerate(["<pad>", "<eos>", "=", *LETTERS])}
core = Tokenizer(models.WordLevel(vocab, unk_token="<pad>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>")


def example():
    letters = random.choices(LETTERS, k=random.randint(3, 5))
    return {"prompt": " ".join(letters) + " =", "answer": " ".join(sorted(letters))}


def encode(row):
    prompt = tokenizer(row["prompt"], padding="max_length", max_length=MAX_LEN, truncation=True)
    full = tokenizer(row["prompt"] + " " + row["answer"] + tokenizer.eos_token,
                     padding="max_length", max_length=MAX_LEN, truncation=True)
    n_prompt = len(prompt["input_ids"])
    ids, mask = full["input_ids"], full["attention_mask"]
    labels = [tok if m and i >= n_prompt else -100 for i, (tok, m) in enumerate(zip(ids, mask))]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


raw = Dataset.from_list([example() for _ in range(2000)])
data = raw.map(encode, remove_columns=raw.column_names).train_test_split(0.1, seed=0)
args = dict(columns=["input_ids", "attention_mask"], label_cols=["labels"])
train = data["train"].to_tf_dataset(batch_size=32, shuffle=True, **args)
test = data["test"].to_tf_dataset(batch_size=64, shuffle=False, **args)

config = GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=1, eos_token_id=1, pad_token_id=0)
model = TFGPT2LMHeadModel(config)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(train, validation_data=test, epochs=6, verbose=2)

for prompt in ["d a c =", "h b e a ="]:
    ids = tokenizer(prompt, return_tensors="tf", return_token_type_ids=False)
    out = model.generate(**ids, max_new_tokens=6, do_sample=False)
    print(prompt, "->", tokenizer.decode(out[0, ids["input_ids"].shape[1]:]))
