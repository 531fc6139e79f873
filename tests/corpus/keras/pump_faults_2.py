# Pump fault triage: predict the state of a pump from vibration / pressure / temperature readings.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import keras
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

STATES = ["normal", "cavitation", "bearing", "seal_leak"]

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=9000)
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=5)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)


def simulate(n):
    """Readings of n service visits; most pumps are fine."""
    state = rng.choice(4, size=n, p=[0.83, 0.09, 0.05, 0.03])
    speed = rng.uniform(0.6, 1.4, n)
    vib_low = 1.0 * speed + rng.normal(0, 0.35, n)
    vib_high = 0.5 * speed ** 2 + rng.normal(0, 0.35, n)
    pressure = 2.0 * speed - 0.3 + rng.normal(0, 0.35, n)
    temp = 40 + 12 * speed + rng.normal(0, 3.0, n)
    current = 5 * speed + rng.normal(0, 0.6, n)
    cav, bear, leak = (state == k for k in (1, 2, 3))
    vib_high += 0.85 * cav * speed
    pressure -= 0.45 * cav
    vib_low += 0.80 * bear
    temp += 5.5 * bear * speed
    pressure -= 0.80 * leak
    current += 1.1 * leak
    x = np.stack([speed, vib_low, vib_high, pressure, temp, current], 1)
    return x.astype("float32"), state


x, y = simulate(args.rows)
x_train, x_test, y_train, y_test = train_test_split(
    x, y, test_size=0.3, stratify=y, random_state=args.seed)
x_train, x_val, y_train, y_val = train_test_split(
    x_train, y_train, test_size=0.15, stratify=y_train, random_state=args.seed)
scaler = StandardScaler().fit(x_train)
x_train, x_val, x_test = (scaler.transform(a) for a in (x_train, x_val, x_test))

counts = np.bincount(y_train, minlength=len(STATES))
print("train rows per state:", dict(zip(STATES, counts.tolist())))
class_weight = {c: n / counts.sum() for c, n in enumerate(counts)}

model = keras.Sequential([
    keras.Input((x_train.shape[1],)),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dense(len(STATES), activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(args.lr),
    loss="sparse_categorical_crossentropy",
    weighted_metrics=[],
)


class RecallLog(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 3 == 0:
            pred = self.model.predict(x_val, verbose=0).argmax(1)
            print(f"epoch {epoch + 1:2d}  loss {logs['loss']:.4f}  "
                  f"val balanced acc {balanced_accuracy_score(y_val, pred):.3f}")


model.fit(
    x_train, y_train,
    batch_size=args.batch,
    epochs=args.epochs,
    class_weight=class_weight,
    callbacks=[RecallLog()],
    verbose=0,
)

pred = model.predict(x_test, verbose=0).argmax(1)
print(confusion_matrix(y_test, pred))
for name, r in zip(STATES, recall_score(y_test, pred, average=None, zero_division=0)):
    print(f"  recall {name:11s} {r:.3f}")
print(f"held-out balanced accuracy {balanced_accuracy_score(y_test, pred):.4f}  (chance 0.25)")
print(f"held-out recall over the fault states {np.mean((pred > 0)[y_test > 0]):.4f}")
