import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("USE_TORCH", "0")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFAutoModelForCausalLM

PITCHES = 24
BOS = PITCHES
RIFFS = [(2, 3, -1, 4), (7, -2, 5, -3), (1, 1, 5, -4)]


def improvise(rng, length):
    riff = RIFFS[rng.integers(len(RIFFS))]
    pitch = int(rng.integers(PITCHES))
    beat = int(rng.integers(4))
    line = [BOS]
    for _ in range(length):
        played = pitch if rng.random() > 0.02 else int(rng.integers(PITCHES))
        line.append(played)
        pitch = (pitch + riff[beat % 4]) % PITCHES
        beat += 1
    return line


def songbook(n, length, seed):
    rng = np.random.default_rng(seed)
    return np.array([improvise(rng, length) for _ in range(n)], dtype="int32")


def batches(lines, batch_size, shuffle=True):
    features = {
        "input_ids": lines[:, :-1],
        "attention_mask": np.ones_like(lines[:, :-1]),
        "labels": lines[:, 1:],
    }
    ds = tf.data.Dataset.from_tensor_slices(features)
    if shuffle:
        ds = ds.shuffle(len(lines), seed=8)
    return ds.batch(batch_size, drop_remainder=True)


def new_player(length):
    return TFAutoModelForCausalLM.from_config(
        GPT2Config(
            vocab_size=PITCHES + 1,
            n_positions=length + 1,
            n_embd=64,
            n_layer=2,
            n_head=4,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=BOS,
            eos_token_id=BOS,
        )
    )


def next_note_hits(model, lines, skip=6):
    logits = model.predict({"input_ids": lines[:, :-1]}, verbose=0, batch_size=64)["logits"]
    guess = logits.argmax(-1)[:, skip:]
    return float((guess == lines[:, 1:][:, skip:]).mean())


def continue_line(model, prompt, steps):
    line = list(prompt)
    for _ in range(steps):
        logits = model(tf.constant([line])).logits
        line.append(int(tf.argmax(logits[0, -1])))
    return line


def main(length=24, epochs=6):
    tf_keras.utils.set_random_seed(12)
    train, test = songbook(2000, length, 1), songbook(300, length, 2)
    player = new_player(length)
    schedule = tf_keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=(len(train) // 32) * epochs)
    player.compile(optimizer=tf_keras.optimizers.Adam(schedule, clipnorm=1.0))
    player.fit(batches(train, 32), epochs=epochs, validation_data=batches(test, 32, False), verbose=2)

    sample = test[0]
    print("played   :", sample[12:20].tolist())
    print("continued:", continue_line(player, sample[:12].tolist(), 8)[12:])
    print(f"next-note accuracy {next_note_hits(player, test):.3f} (chance {1 / PITCHES:.3f})")


if __name__ == "__main__":
    main()
