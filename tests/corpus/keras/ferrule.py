import math
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Config:
    vocab: int = 20
    tags: int = 3
    micro_batch: int = 4
    accumulate: int = 8
    updates: int = 120
    peak_lr: float = 8e-3
    warmup: int = 20
    clip: float = 1.0
    units: int = 32
    seed: int = 5


# 1 opens region a, 2 opens region b, 3 closes; everything above is an ordinary symbol, 0 pads
def sample(rng, cfg, lo=12, hi=40):
    length = rng.integers(lo, hi)
    tokens, tags, state = [], [], 0
    for _ in range(length):
        token = int(rng.integers(4, cfg.vocab)) if rng.random() < 0.8 else int(rng.integers(1, 4))
        state = {1: 1, 2: 2, 3: 0}.get(token, state)
        tokens.append(token)
        tags.append(state)
    return np.array(tokens, "int32"), np.array(tags, "int32")


def stream(cfg, count, seed):
    def generate():
        rng = np.random.default_rng(seed)
        produced = 0
        while count is None or produced < count:
            yield sample(rng, cfg)
            produced += 1

    spec = (tf.TensorSpec((None,), tf.int32), tf.TensorSpec((None,), tf.int32))
    data = tf.data.Dataset.from_generator(generate, output_signature=spec)
    return data.padded_batch(cfg.micro_batch if count is None else 64, padding_values=(0, -1))


class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        rise = step / self.warmup
        progress = tf.clip_by_value((step - self.warmup) / (self.total - self.warmup), 0.0, 1.0)
        return self.peak * tf.where(step < self.warmup, rise, 0.5 * (1.0 + tf.cos(math.pi * progress)))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "total": self.total}


class Tagger(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.embed = keras.layers.Embedding(cfg.vocab, 16, mask_zero=True)
        self.encode = keras.layers.GRU(cfg.units, return_sequences=True)
        self.out = keras.layers.Dense(cfg.tags)

    def call(self, tokens):
        return self.out(self.encode(self.embed(tokens)))


def token_losses(tags, logits):
    keep = tags >= 0
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.where(keep, tags, 0), logits)
    keep = tf.cast(keep, tf.float32)
    return tf.reduce_sum(ce * keep), tf.reduce_sum(keep)


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    model = Tagger(cfg)
    model(tf.ones((1, 5), tf.int32))
    optimizer = keras.optimizers.AdamW(WarmupCosine(cfg.peak_lr, cfg.warmup, cfg.updates), weight_decay=1e-3)
    sums = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.trainable_variables]

    spec = [tf.TensorSpec((None, None), tf.int32)] * 2

    @tf.function(input_signature=spec)
    def collect(tokens, tags):
        with tf.GradientTape() as tape:
            total, count = token_losses(tags, model(tokens, training=True))
        for store, grad in zip(sums, tape.gradient(total, model.trainable_variables)):
            store.assign_add(tf.convert_to_tensor(grad))
        return total, count

    @tf.function
    def update(count):
        grads, norm = tf.clip_by_global_norm([store / count for store in sums], cfg.clip)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        for store in sums:
            store.assign(tf.zeros_like(store))
        return norm

    batches = iter(stream(cfg, None, cfg.seed))
    for step in range(1, cfg.updates + 1):
        total = count = 0.0
        for _ in range(cfg.accumulate):
            part, tokens = collect(*next(batches))
            total, count = total + part, count + tokens
        norm = update(count)
        if step % 10 == 0:
            print(f"update {step:4d}  loss {float(total / count):.4f}  grad {float(norm):.3f}")

    right = seen = 0
    for tokens, tags in stream(cfg, 640, cfg.seed + 1000):
        guess = tf.argmax(model(tokens, training=False), -1, output_type=tf.int32)
        keep = tags >= 0
        right += int(tf.reduce_sum(tf.cast((guess == tags) & keep, tf.int32)))
        seen += int(tf.reduce_sum(tf.cast(keep, tf.int32)))
    print(f"held-out token accuracy {right / seen:.4f}")


if __name__ == "__main__":
    main()
