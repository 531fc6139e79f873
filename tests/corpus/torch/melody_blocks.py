"""Next-note model over folk-like melodies. Tunes are concatenated with an end marker and cut into
fixed blocks, so there is no padding anywhere; a small GPT-2 is trained from scratch on the blocks."""
import math

import numpy as np
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(13)
rng = np.random.default_rng(13)

N_NOTES, END = 24, 24
BLOCK = 48
SCALES = [np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 17, 19, 21, 23]),
          np.array([0, 2, 3, 5, 7, 8, 10, 12, 14, 15, 17, 19, 20, 22])]


def tune():
    """A motif of four notes comes back three to six times, its last note may change: A A' A ..."""
    scale = SCALES[rng.integers(0, 2)]
    motif = rng.integers(0, len(scale), 4)
    notes = []
    for _ in range(rng.integers(3, 7)):
        if rng.random() < 0.3:
            motif[3] = rng.integers(0, len(scale))
        notes += scale[motif].tolist()
    return notes + [END]


def pack(n_tunes):
    stream = [END]
    for _ in range(n_tunes):
        stream += tune()
    n = len(stream) // BLOCK
    blocks = np.array(stream[: n * BLOCK]).reshape(n, BLOCK).tolist()
    return Dataset.from_dict({"input_ids": blocks, "labels": [list(b) for b in blocks]}), stream


def unigram_nats(train_stream, test_stream):
    counts = np.bincount(train_stream, minlength=N_NOTES + 1) + 1.0
    logp = np.log(counts / counts.sum())
    return -logp[np.array(test_stream)].mean()


def bigram_nats(train_stream, test_stream):
    counts = np.full((N_NOTES + 1, N_NOTES + 1), 0.1)
    np.add.at(counts, (train_stream[:-1], train_stream[1:]), 1.0)
    logp = np.log(counts / counts.sum(1, keepdims=True))
    return -logp[np.array(test_stream[:-1]), np.array(test_stream[1:])].mean()


def preprocess_logits_for_metrics(logits, labels):
    if isinstance(logits, tuple):
        logits = logits[0]
    return logits.argmax(-1)


def compute_metrics(p):
    guess, gold = p.predictions[:, :-1], p.label_ids[:, 1:]
    return {"next_note_accuracy": float((guess == gold).mean())}


def main():
    train_ds, train_stream = pack(2200)
    test_ds, test_stream = pack(300)
    print(f"{len(train_ds)} training blocks, {len(test_ds)} test blocks of {BLOCK}")

    config = GPT2Config(vocab_size=N_NOTES + 1, n_positions=BLOCK, n_embd=64, n_layer=2, n_head=4,
                        initializer_range=0.08, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=END, eos_token_id=END, use_cache=False)
    model = GPT2LMHeadModel(config)
    assert model.lm_head.weight is model.transformer.wte.weight      # shared on purpose

    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=6,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        per_device_eval_batch_size=64,
        learning_rate=4e-3,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=30,
        adam_beta2=0.98,
        max_grad_norm=0.5,
        eval_strategy="epoch",
        logging_strategy="epoch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=13,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
                      data_collator=default_data_collator, compute_metrics=compute_metrics,
                      preprocess_logits_for_metrics=preprocess_logits_for_metrics)
    trainer.train()
    res = trainer.evaluate()
    print(f"nats per note on new tunes: uniform {math.log(N_NOTES + 1):.3f}, unigram "
          f"{unigram_nats(train_stream, test_stream):.3f}, bigram {bigram_nats(train_stream, test_stream):.3f}, "
          f"model {res['eval_loss']:.3f} (perplexity {math.exp(res['eval_loss']):.2f}, "
          f"accuracy {res['eval_next_note_accuracy']:.3f})")


if __name__ == "__main__":
    main()
