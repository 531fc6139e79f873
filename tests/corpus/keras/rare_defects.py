import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
import tensorflow as tf
from keras import layers
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

keras.utils.set_random_seed(31)
SIZE, RATE = 20, 0.02


def tile(defect, rng):
    img = rng.normal(128, 12, (SIZE, SIZE)) + 10 * np.sin(np.arange(SIZE) / 3 + rng.uniform(0, 6))
    if defect:
        r, c = rng.integers(2, SIZE - 8, 2)
        step = rng.integers(0, 2)
        for k in range(6):
            img[r + k, c + (k if step else 0)] -= rng.uniform(22, 48)
            img[r + k, c + 1 + (k if step else 0)] -= 8
    return np.clip(img, 0, 255)


def line_scan(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < RATE).astype("float32")
    X = np.stack([tile(d, rng) for d in y]).astype("uint8")[..., None]
    return X, y[:, None]


class Inspector(keras.Model):
    def __init__(self, prior, clip=1.0):
        super().__init__()
        logit = float(np.log(prior / (1 - prior)))
        self.clip = clip
        self.net = keras.Sequential([
            layers.Rescaling(1 / 40.0, offset=-128 / 40.0),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(16, 3, activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(1, kernel_initializer="zeros",
                         bias_initializer=keras.initializers.Constant(logit)),
        ])
        self.mean_loss = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.mean_loss]

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result(), "norm": norm}

    def test_step(self, data):
        x, y = data
        self.mean_loss.update_state(self.compute_loss(x=x, y=y, y_pred=self(x, training=False)))
        return {"loss": self.mean_loss.result()}


X_tr, y_tr = line_scan(9000, seed=1)
X_te, y_te = line_scan(4000, seed=2)
prior = float(y_tr.mean())
model = Inspector(prior)
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss=keras.losses.BinaryCrossentropy(from_logits=True))
start = model.evaluate(X_tr[:2000], y_tr[:2000], batch_size=2000, verbose=0, return_dict=True)
model.fit(X_tr, y_tr, batch_size=128, epochs=8, verbose=2)

p = keras.ops.convert_to_numpy(keras.ops.sigmoid(model.predict(X_te, verbose=0)))[:, 0]
print("loss before training", start)
print(f"defect rate {y_te.mean():.4f}")
print(f"log loss constant {log_loss(y_te[:, 0], np.full(len(p), prior)):.4f}  model {log_loss(y_te[:, 0], p):.4f}")
print(f"average precision {average_precision_score(y_te, p):.3f}  ROC AUC {roc_auc_score(y_te, p):.3f}")
