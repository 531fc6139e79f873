# Freezing-of-gait screening from wrist accelerometer windows (converted from a notebook).
# %%
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupShuffleSplit

SEED = 19
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

# %%  -- recordings
N_PEOPLE, WINDOWS, LENGTH = 240, 20, 64


def record_person(affected):
    """All windows of one participant: own cadence, sensor pose, harmonics and noise floor."""
    cadence = rng.uniform(0.8, 1.6)
    pose = rng.normal(0, 0.6, 3)
    harm = rng.normal(0, 0.5, (3, 3))
    floor = rng.uniform(0.15, 0.3)
    tremor = max(0.0, rng.normal(0.46 if affected else 0.16, 0.10))
    t = np.arange(LENGTH) / 16.0
    out = np.empty((WINDOWS, LENGTH, 3))
    for w in range(WINDOWS):
        phase = rng.uniform(0, 2 * np.pi)
        c = cadence * rng.normal(1, 0.03)
        gait = sum(harm[:, k:k + 1] * np.sin(2 * np.pi * c * (k + 1) * t + phase * (k + 1)) for k in range(3))
        shake = tremor * rng.uniform(0.7, 1.3) * np.sin(2 * np.pi * rng.uniform(5, 6.5) * t + rng.uniform(0, 6))
        out[w] = (pose[:, None] + gait + shake).T + rng.normal(0, floor, (LENGTH, 3))
    return out


status = rng.permutation(np.repeat([0, 1], N_PEOPLE // 2))
signals = np.concatenate([record_person(s) for s in status]).astype("float32")
labels = np.repeat(status, WINDOWS).astype("float32")
person = np.repeat(np.arange(N_PEOPLE), WINDOWS)
print("windows", signals.shape, "positive share", labels.mean())

# %%  -- split
splitter = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=SEED)
train_idx, test_idx = next(splitter.split(signals, labels, groups=person))
x_train, y_train = signals[train_idx], labels[train_idx]
x_test, y_test = signals[test_idx], labels[test_idx]
print("train", x_train.shape[0], "test", x_test.shape[0])

mean, std = x_train.mean((0, 1)), x_train.std((0, 1))
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std


# %%  -- model
def block(x, filters):
    x = layers.Conv1D(filters, 5, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling1D(2)(x)


inputs = keras.Input((LENGTH, 3))
x = block(inputs, 24)
x = block(x, 32)
x = block(x, 48)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.3)(x)
x = layers.Dense(32, activation="relu")(x)
logit = layers.Dense(1)(x)
model = keras.Model(inputs, logit)
model.compile(
    optimizer=keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(
        3e-3, 8 * (len(x_train) // 64 + 1)), weight_decay=1e-2),
    loss=keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.05),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
)

# %%  -- training
history = model.fit(x_train, y_train, batch_size=64, epochs=8, verbose=0)
for epoch in range(1, 8, 2):
    print(f"epoch {epoch + 1:2d} loss {history.history['loss'][epoch]:.4f} acc {history.history['acc'][epoch]:.4f}")

# %%  -- evaluation
score = model.predict(x_test, batch_size=256, verbose=0)[:, 0]
majority = max(y_test.mean(), 1 - y_test.mean())
print(f"test accuracy {accuracy_score(y_test > 0.5, score > 0):.4f}  AUC {roc_auc_score(y_test, score):.4f}"
      f"  (majority {majority:.4f})")
print("positive windows called:", int(((score > 0) & (y_test > 0.5)).sum()), "of", int(y_test.sum()))
