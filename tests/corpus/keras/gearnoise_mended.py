import argparse
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertModel

CONDITIONS = ["sound", "pitting", "misaligned", "worn"]


def cli():
    p = argparse.ArgumentParser()
    p.add_argument("--rate", type=int, default=1000)
    p.add_argument("--seconds", type=float, default=2.0)
    p.add_argument("--window", type=int, default=64)
    p.add_argument("--hop", type=int, default=32)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--recordings", type=int, default=800)
    return p.parse_args()


def record(args, rng):
    n = int(args.rate * args.seconds)
    t = np.arange(n) / args.rate
    y = rng.integers(0, len(CONDITIONS), args.recordings)
    sig = np.empty((args.recordings, n))
    for i, c in enumerate(y):
        f = rng.uniform(90, 130)
        s = np.sin(2 * np.pi * f * t + rng.uniform(0, 6))
        if c == 1:
            s += 2.0 * (np.sin(2 * np.pi * 5 * t + rng.uniform(0, 6)) > 0.95) * rng.normal(size=n)
        elif c == 2:
            s *= 1 + 0.8 * np.sin(2 * np.pi * 3 * t + rng.uniform(0, 6))
        elif c == 3:
            s += 0.5 * np.sin(2 * np.pi * 2.7 * f * t)
        sig[i] = s + rng.normal(0, 0.5, n)
    return sig.astype("float32"), y.astype("int32")


def spectrum(sig, args):
    mag = tf.abs(tf.signal.stft(sig, args.window, args.hop))
    logmag = tf.math.log(mag + 1e-2)
    return (logmag - tf.reduce_mean(logmag)) / tf.math.reduce_std(logmag)


class GearClassifier(tf.keras.Model):
    def __init__(self, args):
        super().__init__()
        n_frames = 1 + (int(args.rate * args.seconds) - args.window) // args.hop
        cfg = BertConfig(vocab_size=8, hidden_size=args.hidden, num_hidden_layers=2,
                         num_attention_heads=4, intermediate_size=96,
                         max_position_embeddings=n_frames,
                         hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        self.project = tf.keras.layers.Dense(args.hidden)
        self.encoder = TFBertModel(cfg, add_pooling_layer=False)
        self.head = tf.keras.layers.Dense(len(CONDITIONS))

    def call(self, frames, training=False):
        h = self.encoder({"inputs_embeds": self.project(frames)}, training=training)[0]
        return self.head(tf.reduce_mean(h, axis=1))


def main():
    args = cli()
    tf.keras.utils.set_random_seed(12)
    sig, y = record(args, np.random.default_rng(12))
    x = spectrum(sig, args).numpy()
    print("spectra", x.shape)
    cut = int(0.8 * len(x))
    model = GearClassifier(args)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(x[:cut], y[:cut], batch_size=16, epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(x[cut:], y[cut:], verbose=0)
    print(f"test loss {loss:.4f}  accuracy {acc:.4f}  "
          f"majority {np.bincount(y[cut:]).max() / len(y[cut:]):.4f}")


if __name__ == "__main__":
    main()
