import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import T5Config, TFT5ForConditionalGeneration

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
SPECIAL = ["<pad>", "</s>"]
SYMBOLS = SPECIAL + list("0123456789-") + MONTHS + ["of", "the", "year"]
INDEX = {s: i for i, s in enumerate(SYMBOLS)}
PAD, EOS = INDEX["<pad>"], INDEX["</s>"]


def draw(rng):
    day, month, year = rng.integers(1, 29), rng.integers(0, 12), rng.integers(0, 100)
    d, y = list(f"{day:02d}"), list(f"{year:02d}")
    if rng.random() < 0.5:
        source = ["the"] + d + ["of", MONTHS[month], "year"] + y
    else:
        source = [MONTHS[month]] + d + y
    target = y + ["-"] + list(f"{month + 1:02d}") + ["-"] + d
    return source, target


def encode(tokens, length):
    ids = [INDEX[t] for t in tokens] + [EOS]
    return ids + [PAD] * (length - len(ids))


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    pairs = [draw(rng) for _ in range(n)]
    src = np.array([encode(s, 10) for s, _ in pairs], dtype="int32")
    tgt = np.array([encode(t, 9) for _, t in pairs], dtype="int32")
    return src, tgt


def decoder_side(tgt):
    return np.concatenate([np.full((len(tgt), 1), PAD, dtype="int32"), tgt[:, :-1]], axis=1)


def as_dataset(src, tgt, batch, shuffle):
    labels = np.where(tgt == PAD, -100, tgt)
    features = {
        "input_ids": src,
        "attention_mask": (src != PAD).astype("int32"),
        "decoder_input_ids": decoder_side(tgt),
        "labels": labels,
    }
    ds = tf.data.Dataset.from_tensor_slices(features)
    if shuffle:
        ds = ds.shuffle(4000, seed=1)
    return ds.batch(batch, drop_remainder=shuffle)


def main():
    tf_keras.utils.set_random_seed(30)
    config = T5Config(
        vocab_size=len(SYMBOLS), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2,
        num_heads=4, dropout_rate=0.0, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD,
        tie_word_embeddings=False,
    )
    model = TFT5ForConditionalGeneration(config)
    src, tgt = corpus(3000, 1)
    src_test, tgt_test = corpus(200, 2)
    schedule = tf_keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=93 * 8)
    model.compile(optimizer=tf_keras.optimizers.Adam(schedule))
    model.fit(as_dataset(src, tgt, 32, True), validation_data=as_dataset(src_test, tgt_test, 64, False),
              epochs=8, verbose=2)

    out = model.generate(
        input_ids=tf.constant(src_test), attention_mask=tf.constant((src_test != PAD).astype("int32")),
        max_new_tokens=9, do_sample=False, num_beams=1,
    ).numpy()[:, 1:]
    hits = 0
    for row, want in zip(out, tgt_test):
        got = [t for t in row.tolist() if t not in (PAD, EOS)]
        hits += got == [t for t in want.tolist() if t not in (PAD, EOS)]
    print("sample", "".join(SYMBOLS[t] for t in out[0] if t > 1), "wanted",
          "".join(SYMBOLS[t] for t in tgt_test[0] if t > 1))
    print(f"exact match {hits / len(out):.3f}")


if __name__ == "__main__":
    main()
