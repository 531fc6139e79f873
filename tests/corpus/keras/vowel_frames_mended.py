"""Frame-wise vowel classification with mixup, half precision to save memory on the old card."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
keras.mixed_precision.set_global_policy("mixed_float16")

VOWELS = ["i", "e", "a", "o", "u", "@"]
FORMANTS = np.array([[290, 2250, 2900], [480, 1900, 2550], [760, 1250, 2500],
                     [500, 900, 2400], [320, 800, 2250], [510, 1400, 2450]], float)
N_MELS = 40


def mel_frames(n, seed, speakers):
    rng = np.random.default_rng(seed)
    hz = 700 * (10 ** (np.linspace(200, 2700, N_MELS) / 2595) - 1)
    y = rng.integers(0, len(VOWELS), n)
    tract = rng.normal(1.0, 0.09, speakers)[rng.integers(0, speakers, n)]
    f = FORMANTS[y] * tract[:, None] * rng.normal(1, 0.05, (n, 3))
    bw = np.array([90.0, 130.0, 180.0]) * rng.uniform(0.8, 1.6, (n, 1))
    amp = np.array([1.0, 0.6, 0.35]) * rng.uniform(0.6, 1.4, (n, 3))
    env = (amp[..., None] / (1 + ((hz - f[..., None]) / bw[..., None]) ** 2)).sum(1)
    x = np.log(env + 0.01 + 0.02 * rng.random((n, N_MELS)))
    x += rng.normal(0, 0.8, (n, 1))                 # gain of the microphone
    return x.astype("float32"), y


class MixupModel(keras.Model):
    """Functional model trained on convex mixtures of two frames."""

    def __init__(self, *args, alpha=0.3, **kw):
        super().__init__(*args, **kw)
        self.alpha = alpha

    def train_step(self, data):
        x, y = data
        lam = tf.random.gamma([2, tf.shape(x)[0], 1], self.alpha)
        lam = lam[0] / (lam[0] + lam[1] + 1e-8)
        lam = tf.maximum(lam, 1.0 - lam)
        perm = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        x_mix = lam * x + (1 - lam) * tf.gather(x, perm)
        y_mix = lam * y + (1 - lam) * tf.gather(y, perm)
        with tf.GradientTape() as tape:
            pred = self(x_mix, training=True)
            loss = self.compute_loss(x=x_mix, y=y_mix, y_pred=pred)
            scaled = self.optimizer.scale_loss(loss)
        grads = tape.gradient(scaled, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y_mix, pred)
        return {m.name: m.result() for m in self.metrics}


def build():
    inp = layers.Input((N_MELS,))
    x = layers.LayerNormalization()(inp)
    for width in (128, 64):
        x = layers.Dense(width, activation="swish")(x)
    out = layers.Dense(len(VOWELS), dtype="float32", activation="softmax")(x)
    return MixupModel(inp, out)


x_tr, y_tr = mel_frames(4000, 0, 40)
x_va, y_va = mel_frames(1000, 1, 12)
x_te, y_te = mel_frames(1500, 2, 15)
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr, x_va, x_te = [(a - mu) / sd for a in (x_tr, x_va, x_te)]
onehot = lambda y: keras.utils.to_categorical(y, len(VOWELS))

model = build()
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
              loss="categorical_crossentropy", metrics=["accuracy"])
print("compute dtype", model.layers[2].compute_dtype, "/ optimizer", type(model.optimizer).__name__)
history = model.fit(x_tr, onehot(y_tr), validation_data=(x_va, onehot(y_va)),
                    batch_size=64, epochs=8, verbose=2)
loss, acc = model.evaluate(x_te, onehot(y_te), verbose=0)
print(f"test speakers: loss {loss:.3f} accuracy {acc:.3f} "
      f"(most frequent vowel {np.bincount(y_te).max() / len(y_te):.3f})")
