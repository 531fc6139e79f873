import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
import tensorflow as tf
from keras import layers
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight

keras.utils.set_random_seed(3)

SETTINGS = {"hidden": 48, "noise": 0.05, "lr": 2e-3, "epochs": 8, "batch": 128}
LEVELS = ["ignore", "watch", "dispatch"]
COST = np.array([[0, 1, 2], [15, 0, 3], [60, 20, 0]])


def simulate_alarms(n=9000, seed=0):
    rng = np.random.default_rng(seed)
    level = rng.choice(3, size=n, p=[0.96, 0.025, 0.015])
    temp = rng.normal(61, 5, n) + 8.0 * (level == 1) + 12.0 * (level == 2)
    vib = rng.gamma(2.0, 0.5, n) * (1 + 0.6 * (level == 1) + 0.9 * (level == 2))
    load = rng.uniform(0.2, 1.0, n)
    current = 14 * load + rng.normal(0, 1.2, n) + 3.5 * (level == 2)
    age = rng.integers(0, 20, n) + 2 * (level > 0)
    hour = rng.integers(0, 24, n)
    X = np.stack([temp, vib, load, current, age,
                  np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi)], 1)
    return X.astype("float32"), level.astype("int32")


class NoisyClassifier(keras.Model):
    def __init__(self, net, noise):
        super().__init__()
        self.net = net
        self.noise = noise
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        return self.net(x, training=training)

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, data):
        x, y, weight = keras.utils.unpack_x_y_sample_weight(data)
        x = x + tf.random.normal(tf.shape(x), stddev=self.noise)
        with tf.GradientTape() as tape:
            probs = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=probs, sample_weight=weight)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=False))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


def build(n_features, n_classes, hidden):
    inp = keras.Input((n_features,))
    h = layers.Dense(hidden, activation="relu")(inp)
    h = layers.Dropout(0.1)(h)
    h = layers.Dense(hidden, activation="relu")(h)
    out = layers.Dense(n_classes, activation="softmax")(h)
    return keras.Model(inp, out)


X, y = simulate_alarms()
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
scaler = StandardScaler().fit(X_tr)
X_tr, X_te = scaler.transform(X_tr), scaler.transform(X_te)

balance = compute_class_weight("balanced", classes=np.arange(3), y=y_tr)
class_weight = {i: float(w) for i, w in enumerate(balance)}

model = NoisyClassifier(build(X.shape[1], len(LEVELS), SETTINGS["hidden"]), SETTINGS["noise"])
model.compile(optimizer=keras.optimizers.Adam(SETTINGS["lr"]),
              loss=keras.losses.SparseCategoricalCrossentropy())
model.fit(X_tr, y_tr, epochs=SETTINGS["epochs"], batch_size=SETTINGS["batch"],
          class_weight=class_weight, validation_data=(X_te, y_te), verbose=2)

pred = model.predict(X_te, verbose=0).argmax(1)
print("class weights", class_weight)
for i, name in enumerate(LEVELS):
    print(f"recall {name:9s} {recall_score(y_te == i, pred == i):.3f}")
print(f"balanced accuracy {balanced_accuracy_score(y_te, pred):.3f}")
cost = (confusion_matrix(y_te, pred) * COST).sum() / len(y_te)
print(f"cost per alarm {cost:.3f}")
