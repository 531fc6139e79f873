import os
import resource
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

LENGTH = 256
CONFIG = {"steps": 32, "batch": 32, "lr": 5e-3, "warmup": 5, "start_noise": 0.2, "end_noise": 0.8}


def batches(cfg, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / 128.0
    while True:
        f = rng.uniform(2, 9, size=(cfg["batch"], 1))
        phase = rng.uniform(0, 2 * np.pi, size=(cfg["batch"], 1))
        wave = np.sin(2 * np.pi * f * t + phase) + 0.5 * np.sin(4 * np.pi * f * t + 2 * phase)
        yield wave[..., None].astype("float32")


def denoiser():
    inputs = keras.Input((LENGTH, 1))
    h = layers.Conv1D(16, 15, padding="same", activation="relu")(inputs)
    d = layers.Conv1D(24, 15, strides=2, padding="same", activation="relu")(h)
    d = layers.Conv1D(24, 15, padding="same", activation="relu")(d)
    u = layers.UpSampling1D(2)(d)
    h = layers.Concatenate()([h, u])
    h = layers.Conv1D(16, 9, padding="same", activation="relu")(h)
    return keras.Model(inputs, layers.Conv1D(1, 9, padding="same")(h))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = denoiser()
        self.optimizer = keras.optimizers.Adam(cfg["lr"])
        self.optimizer.build(self.net.trainable_variables)

    @tf.function
    def train_step(self, clean, noise_level, warm):
        noisy = clean + noise_level * tf.random.normal(tf.shape(clean))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(noisy, training=True) - clean))
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads = [g * warm for g in grads]
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def level(self, step):
        share = step / self.cfg["steps"]
        return self.cfg["start_noise"] + share * (self.cfg["end_noise"] - self.cfg["start_noise"])

    def fit(self, source):
        began = time.time()
        for step in range(self.cfg["steps"]):
            noise_level = tf.constant(self.level(step), tf.float32)
            warm = tf.constant(min(1.0, (step + 1) / self.cfg["warmup"]), tf.float32)
            loss = self.train_step(next(source), noise_level, warm)
            if (step + 1) % 8 == 0:
                rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(
                    f"step {step + 1}  loss {float(loss):.4f}  "
                    f"{time.time() - began:.1f}s  peak memory {rss:.0f} MB"
                )
        return time.time() - began


def main():
    keras.utils.set_random_seed(4)
    trainer = Trainer(CONFIG)
    seconds = trainer.fit(batches(CONFIG, 1))
    clean = next(batches(dict(CONFIG, batch=256), 77))
    noisy = clean + 0.6 * np.random.default_rng(5).normal(size=clean.shape).astype("float32")
    before = float(np.mean((noisy - clean) ** 2))
    after = float(np.mean((trainer.net.predict(noisy, verbose=0) - clean) ** 2))
    print(f"noise power {before:.3f} -> {after:.3f}")
    print(f"{CONFIG['steps']} steps in {seconds:.1f}s, {1000 * seconds / CONFIG['steps']:.0f} ms per step")


if __name__ == "__main__":
    main()
