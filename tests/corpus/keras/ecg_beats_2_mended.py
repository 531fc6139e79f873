# Heart-beat classification from single-lead segments (synthetic, four kinds of beats).
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_class_weight

KINDS = ["normal", "premature", "fusion", "ectopic"]
SHARE = [0.90, 0.05, 0.03, 0.02]
LENGTH = 96


def bump(t, centre, width, height):
    return height * np.exp(-0.5 * ((t - centre) / width) ** 2)


def one_beat(kind, rng):
    t = np.linspace(0, 1, LENGTH)
    shift = rng.normal(0, 0.02)
    p, qrs, tw = 0.18, 1.0, 0.3
    width, early, s_depth = 0.018, 0.0, -0.2
    if kind == 1:                      # comes a little early, small P wave
        early, p = -0.045, 0.08
    elif kind == 2:                    # slightly broadened
        width, s_depth = 0.026, -0.32
    elif kind == 3:                    # deep S, flat T
        s_depth, tw, p = -0.42, 0.16, 0.12
    c = 0.42 + shift + early
    k = lambda: rng.normal(1, 0.12)
    x = (bump(t, 0.24 + shift, 0.03, p * k()) + bump(t, c, width * k(), qrs * k())
         + bump(t, c + 0.05, 0.02, s_depth * k()) + bump(t, 0.70 + shift, 0.06, tw * k()))
    wander = 0.08 * np.sin(2 * np.pi * (t * rng.uniform(0.3, 1.0) + rng.random()))
    return x + wander + 0.07 * rng.normal(size=LENGTH)


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=SHARE)
    x = np.stack([one_beat(k, rng) for k in y]).astype("float32")
    return x[..., None], y.astype("int32")


class BeatNet(keras.Model):
    """1-D CNN whose training step adds jitter and reports the gradient norm."""

    def __init__(self, n_classes, jitter=0.02):
        super().__init__()
        self.jitter = jitter
        self.body = keras.Sequential([
            layers.Conv1D(16, 7, strides=2, padding="same", activation="relu"),
            layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.2),
            layers.Dense(32, activation="relu"),
        ])
        self.head = layers.Dense(n_classes)
        self.grad_norm = keras.metrics.Mean(name="grad_norm")

    def call(self, x, training=False):
        return self.head(self.body(x, training=training))

    def train_step(self, data):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        x = x + self.jitter * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=logits, sample_weight=sample_weight)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            elif metric.name == "grad_norm":
                metric.update_state(tf.linalg.global_norm(grads))
            else:
                metric.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(23)
    x, y = make_data(6000, seed=1)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.4, stratify=y, random_state=0)
    print("training beats per kind:", dict(zip(KINDS, np.bincount(y_tr).tolist())))

    weights = compute_class_weight("balanced", classes=np.arange(4), y=y_tr)
    class_weight = {k: float(w) for k, w in enumerate(weights)}
    print("class weights:", {k: round(v, 2) for k, v in class_weight.items()})

    model = BeatNet(len(KINDS))
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x_tr, y_tr, epochs=12, batch_size=64, class_weight=class_weight, verbose=2)

    pred = model.predict(x_te, batch_size=512, verbose=0).argmax(1)
    print(confusion_matrix(y_te, pred))
    print("held-out accuracy %.3f   balanced accuracy %.3f   (chance %.3f)"
          % ((pred == y_te).mean(), balanced_accuracy_score(y_te, pred), 1 / len(KINDS)))


if __name__ == "__main__":
    main()
