"""Tone of customer mails (angry / neutral / happy) in float16 compute with plain SGD."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import f1_score

keras.utils.set_random_seed(13)
keras.mixed_precision.set_global_policy("mixed_float16")
LOSS_SCALE = 1024.0

ANGRY = "refund broken late rude awful cancel waste worst again never".split()
HAPPY = "thanks great love quick kind perfect helpful smile superb glad".split()
NEUTRAL = "order account invoice address parcel date number question form link".split()
FILL = [f"w{i}" for i in range(160)]
VOCAB = ["", "[unk]", "not"] + ANGRY + HAPPY + NEUTRAL + FILL
INDEX = {w: i for i, w in enumerate(VOCAB)}
MAXLEN = 30


def write_mail(tone, r):
    words = list(r.choice(FILL, r.integers(10, 20))) + list(r.choice(NEUTRAL, r.integers(1, 4)))
    if tone == 0:
        words += list(r.choice(ANGRY, r.integers(2, 4)))
        if r.random() < 0.3:
            words.append("not")
    elif tone == 2:
        words += list(r.choice(HAPPY, r.integers(2, 4)))
    if r.random() < 0.25:
        words.append(r.choice(ANGRY + HAPPY))
    r.shuffle(words)
    return words[:MAXLEN]


def dataset(n, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, 3, n)
    x = np.zeros((n, MAXLEN), dtype="int32")
    for row, t in zip(x, y):
        mail = write_mail(t, r)
        row[:len(mail)] = [INDEX[w] for w in mail]
    return x, y.astype("int32")


def build():
    ids = keras.Input((MAXLEN,), dtype="int32")
    e = layers.Embedding(len(VOCAB), 32, mask_zero=True)(ids)
    h = layers.GlobalAveragePooling1D()(e)
    h = layers.Dense(48, activation="relu")(h)
    return keras.Model(ids, layers.Dense(3, dtype="float32")(h))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.SGD(lr, momentum=0.9)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
            scaled = loss * LOSS_SCALE
        grads = tape.gradient(scaled, self.model.trainable_variables)
        grads = [tf.convert_to_tensor(g) / LOSS_SCALE for g in grads]
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def epoch(self, ds):
        return float(np.mean([self.step(x, y).numpy() for x, y in ds]))


def predict(model, x):
    return np.asarray(model(x, training=False)).argmax(1)


def main():
    x_tr, y_tr = dataset(3000, 1)
    x_te, y_te = dataset(800, 2)
    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(3000, seed=1).batch(32)
    model = build()
    trainer = Trainer(model, lr=0.1)
    for epoch in range(12):
        loss = trainer.epoch(ds)
        if epoch % 2 == 1:
            f1 = f1_score(y_te, predict(model, x_te), average="macro")
            print(f"epoch {epoch + 1:2d}  loss {loss:.4f}  macro-F1 {f1:.3f}")
    pred = predict(model, x_te)
    print(f"test accuracy {np.mean(pred == y_te):.3f}  largest class {np.bincount(y_te).max() / len(y_te):.3f}")


if __name__ == "__main__":
    main()
