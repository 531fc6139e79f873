"""Classify the state of a bee hive from short microphone clips."""
import argparse
import logging
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers

log = logging.getLogger("hivesounds")

STATES = ["calm", "queenless", "swarming", "robbed"]
RATE = 4000
CLIP = 4096
FRAME = 256
HOP = 128


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--clips", type=int, default=640)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


def synth_clip(state, rng):
    t = np.arange(CLIP) / RATE
    base = rng.normal(230, 8)
    wave = np.zeros(CLIP)
    if state == 0:
        partials = [(1, 1.0), (2, 0.5), (3, 0.2)]
    elif state == 1:
        partials = [(1, 0.7), (1.35, 0.8), (2.1, 0.4)]
    elif state == 2:
        partials = [(1, 0.5), (2, 0.9), (2.2, 0.6)]
    else:
        partials = [(1, 0.8), (1.9, 0.3), (4.3, 0.5)]
    for mult, amp in partials:
        phase = rng.uniform(0, 2 * np.pi)
        wave += amp * rng.uniform(0.6, 1.2) * np.sin(2 * np.pi * base * mult * t + phase)
    if state == 2:
        wave *= 1 + 0.5 * np.sin(2 * np.pi * rng.uniform(3, 6) * t)
    wave += rng.normal(0, 1.1, CLIP)
    return wave.astype("float32")


def spectrogram(wave):
    starts = range(0, CLIP - FRAME + 1, HOP)
    frames = np.stack([wave[s:s + FRAME] for s in starts]) * np.hanning(FRAME)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    return np.log(power[:, :96] + 1e-3).astype("float32")


class ClipSequence(keras.utils.Sequence):
    def __init__(self, waves, states, batch_size, shuffle=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.waves = waves
        self.states = states
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(waves))
        self.on_epoch_end()

    def __len__(self):
        return int(np.ceil(len(self.waves) / self.batch_size))

    def __getitem__(self, i):
        rows = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        x = np.stack([spectrogram(self.waves[r]) for r in rows])
        return x, self.states[rows]

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.order)


def make_clips(n, seed):
    rng = np.random.default_rng(seed)
    states = rng.integers(0, len(STATES), n)
    return np.stack([synth_clip(s, rng) for s in states]), states


def build_model(sample):
    inputs = keras.Input(shape=sample.shape)
    norm = layers.Normalization(axis=-1, name="spec_norm")
    x = norm(inputs)
    x = layers.Conv1D(48, 5, padding="same", activation="relu")(x)
    x = layers.MaxPooling1D(2)(x)
    x = layers.Conv1D(48, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(len(STATES), activation="softmax")(x)
    return keras.Model(inputs, outputs), norm


def train(args):
    waves, states = make_clips(args.clips, args.seed)
    cut = int(0.8 * len(waves))
    train_seq = ClipSequence(waves[:cut], states[:cut], args.batch_size, shuffle=True, seed=args.seed)
    val_seq = ClipSequence(waves[cut:], states[cut:], args.batch_size)

    specs = np.stack([spectrogram(w) for w in waves[:200]])
    model, norm = build_model(specs[0])
    norm.adapt(specs)
    model.compile(optimizer=keras.optimizers.Adam(args.lr),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    callbacks = [
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2),
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True),
    ]
    log.info("training on %d clips, %d parameters", cut, model.count_params())
    model.fit(train_seq,
              validation_data=val_seq,
              epochs=args.epochs,
              callbacks=callbacks,
              workers=args.workers,
              verbose=2)
    return model, val_seq


def report(model, seq):
    truth = np.concatenate([seq[i][1] for i in range(len(seq))])
    pred = model.predict(seq, verbose=0).argmax(axis=1)
    for k, name in enumerate(STATES):
        mask = truth == k
        log.info("%-10s recall %.3f (%d clips)", name, (pred[mask] == k).mean(), mask.sum())
    log.info("accuracy %.3f", (pred == truth).mean())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    model, val_seq = train(args)
    report(model, val_seq)
