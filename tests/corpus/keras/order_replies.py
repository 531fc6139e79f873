"""Fine-tune a tiny GPT-2 (TensorFlow) to answer order questions, then let it write the answers."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, PreTrainedTokenizerFast,
                          TFGPT2LMHeadModel, set_seed)

set_seed(0)
rng = np.random.default_rng(0)

ITEMS = "lamp chair kettle carpet mirror clock shelf blanket".split()
COLOURS = "red green blue white black".split()
STATES = {"where": "is on the way and arrives on", "cancel": "has been cancelled on",
          "return": "can be sent back until"}
DAYS = "monday tuesday wednesday thursday friday saturday".split()
NUMBERS = [str(i) for i in range(10)]


def dialogue():
    q, item, colour, day = rng.choice(list(STATES)), rng.choice(ITEMS), rng.choice(COLOURS), rng.choice(DAYS)
    k = int(rng.integers(1, 3))
    goods = " and ".join(f"{rng.choice(COLOURS)} {rng.choice(ITEMS)}" for _ in range(k - 1))
    goods = f"{colour} {item}" + (f" and {goods}" if goods else "")
    question = f"<q> {q} {goods} {day} <a>"
    answer = f"your {goods} {STATES[q]} {day}"
    return question, answer


def build_tokenizer():
    words = set("<q> <a> your and".split()) | set(ITEMS) | set(COLOURS) | set(STATES) | set(DAYS)
    for s in STATES.values():
        words |= set(s.split())
    vocab = {w: i for i, w in enumerate(["<unk>", "<end>"] + sorted(words))}
    tok = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", eos_token="<end>")


tokenizer = build_tokenizer()
tokenizer.pad_token = tokenizer.eos_token
tokenizer.padding_side = "right"

train_text = [f"{q} {a} {tokenizer.eos_token}" for q, a in (dialogue() for _ in range(2000))]
held_out = [dialogue() for _ in range(120)]

collator = DataCollatorForLanguageModeling(tokenizer, mlm=False, return_tensors="tf")


def batches(texts, size, epochs):
    for _ in range(epochs):
        order = rng.permutation(len(texts))
        for i in range(0, len(order) - size + 1, size):
            enc = [tokenizer(texts[j], padding="max_length", max_length=32, truncation=True)
                   for j in order[i:i + size]]
            b = collator([{"input_ids": e["input_ids"], "attention_mask": e["attention_mask"]} for e in enc])
            yield b["input_ids"], b["attention_mask"], b["labels"]


config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
                    pad_token_id=tokenizer.pad_token_id, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = TFGPT2LMHeadModel(config)
schedule = tf_keras.optimizers.schedules.PolynomialDecay(3e-3, 8 * 62, 1e-4)
optimizer = tf_keras.optimizers.Adam(schedule, clipnorm=1.0)


@tf.function
def train_step(ids, mask, labels):
    with tf.GradientTape() as tape:
        out = model(input_ids=ids, attention_mask=mask, labels=labels, training=True)
        loss = tf.reduce_mean(out.loss)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


losses = []
for step, (ids, mask, labels) in enumerate(batches(train_text, 32, 8), 1):
    losses.append(float(train_step(ids, mask, labels)))
    if step % 62 == 0:
        print(f"epoch {step // 62}  loss {np.mean(losses[-62:]):.3f}")

# ---- let it write: greedy, at most 40 new tokens
tokenizer.padding_side = "left"
enc = tokenizer([q for q, _ in held_out], return_tensors="tf", padding=True)
gen = model.generate(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], max_new_tokens=40,
                     do_sample=False, pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)
new = gen[:, enc["input_ids"].shape[1]:].numpy()
written = tokenizer.batch_decode(new, skip_special_tokens=True)
exact = np.mean([w.strip() == a for w, (_, a) in zip(written, held_out)])
ended = np.mean([(row == tokenizer.eos_token_id).any() for row in new])
print("sample :", written[0])
print("wanted :", held_out[0][1])
print(f"HELD-OUT  exact answers {exact:.3f}   answers that end {ended:.3f}   "
      f"mean words {np.mean([len(w.split()) for w in written]):.1f} "
      f"(wanted {np.mean([len(a.split()) for _, a in held_out]):.1f})")
