"""Two heads over one trunk: which digit it is, and how much ink it has."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(21)


class Journal(keras.callbacks.Callback):
    """Keeps the per-epoch figures and prints every third epoch."""

    def __init__(self, every=3):
        super().__init__()
        self.every = every
        self.rows = []

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append(dict(logs))
        if (epoch + 1) % self.every == 0:
            print(f"epoch {epoch + 1:2d} " + "  ".join(f"{k} {v:.4f}" for k, v in logs.items()))


def get_data():
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    ink = x.mean(axis=(1, 2, 3))
    ink = ((ink - ink.mean()) / ink.std()).astype("float32")
    return train_test_split(x, digits.target.astype("int32"), ink, test_size=0.25, random_state=0)


def build_model():
    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(16, 3, activation="relu", padding="same")(inp)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, activation="relu", padding="same")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, {"digit": layers.Dense(10, name="digit")(h),
                             "ink": layers.Dense(1, name="ink")(h)})


def joint_loss(truth_digit, truth_ink, out, ink_weight):
    per_row = keras.losses.sparse_categorical_crossentropy(truth_digit, out["digit"], from_logits=True)
    digit_loss = tf.reduce_mean(per_row)
    ink_loss = tf.reduce_mean(tf.square(truth_ink - tf.squeeze(out["ink"], -1)))
    return digit_loss + ink_weight * ink_loss, digit_loss, ink_loss


def run(epochs=12, batch=64, ink_weight=0.5):
    x_tr, x_te, d_tr, d_te, i_tr, i_te = get_data()
    model = build_model()
    opt = keras.optimizers.Adam(2e-3)
    journal = Journal()
    hooks = keras.callbacks.CallbackList([journal], model=model)
    ds = tf.data.Dataset.from_tensor_slices((x_tr, d_tr, i_tr)).shuffle(2000, seed=4).batch(batch)

    @tf.function
    def step(x, d, i):
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            total, dl, il = joint_loss(d, i, out, ink_weight)
        grads = tape.gradient(total, model.trainable_weights)
        opt.apply_gradients(zip(grads, model.trainable_weights))
        return dl, il

    hooks.on_train_begin()
    for epoch in range(epochs):
        hooks.on_epoch_begin(epoch)
        parts = np.array([[float(v) for v in step(*b)] for b in ds])
        hooks.on_epoch_end(epoch, {"digit_loss": parts[:, 0].mean(), "ink_loss": parts[:, 1].mean()})
    hooks.on_train_end()

    out = model(x_te, training=False)
    acc = np.mean(out["digit"].numpy().argmax(-1) == d_te)
    mae = np.mean(np.abs(out["ink"].numpy()[:, 0] - i_te))
    print(f"test digit accuracy {acc:.4f}  ink MAE {mae:.4f} (constant {np.mean(np.abs(i_te)):.4f})")
    return journal.rows


if __name__ == "__main__":
    run()
