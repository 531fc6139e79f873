import math
import random
import tempfile

import numpy as np
from datasets import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed)

STEPS = {
    "chop": ["onions", "carrots", "parsley"],
    "boil": ["water", "pasta", "eggs"],
    "fry": ["onions", "eggs", "bacon"],
    "stir": ["sauce", "soup"],
}
ENDINGS = ["gently .", "for ten minutes .", "until done ."]
BLOCK = 32


def stream_words(n):
    words = []
    while len(words) < n:
        verb = random.choice(list(STEPS))
        words += [verb, "the", random.choice(STEPS[verb])] + random.choice(ENDINGS).split()
    return words[:n]


def chunk(words, vocab):
    ids = [vocab[w] for w in words]
    blocks = [ids[i:i + BLOCK] for i in range(0, len(ids) - BLOCK + 1, BLOCK)]
    return Dataset.from_dict({"input_ids": blocks, "labels": [list(b) for b in blocks]})


def keep_argmax(logits, labels):
    return logits.argmax(dim=-1)


def next_word_accuracy(p):
    return {"next_word": float((p.predictions[:, :-1] == p.label_ids[:, 1:]).mean())}


def main():
    set_seed(33)
    train_words, valid_words = stream_words(32000), stream_words(6400)
    vocab = {w: i for i, w in enumerate(sorted(set(train_words)))}
    counts = np.bincount([vocab[w] for w in train_words], minlength=len(vocab))
    share = counts / counts.sum()
    unigram = -(share[share > 0] * np.log(share[share > 0])).sum()

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(vocab), n_positions=BLOCK, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=vocab["."], eos_token_id=vocab["."], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, num_train_epochs=4, learning_rate=3e-3, per_device_train_batch_size=16,
            gradient_accumulation_steps=2, per_device_eval_batch_size=50, lr_scheduler_type="cosine",
            warmup_steps=10, eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
            report_to="none", disable_tqdm=True)
        trainer = Trainer(model=model, args=args, train_dataset=chunk(train_words, vocab),
                          eval_dataset=chunk(valid_words, vocab), data_collator=default_data_collator,
                          preprocess_logits_for_metrics=keep_argmax, compute_metrics=next_word_accuracy)
        trainer.train()
        r = trainer.evaluate()
    print(f"valid loss {r['eval_loss']:.3f}  (uniform {math.log(len(vocab)):.3f}, word frequencies {unigram:.3f})")
    print(f"next-word accuracy {r['eval_next_word']:.3f}  (most frequent word {share.max():.3f})")


if __name__ == "__main__":
    main()
