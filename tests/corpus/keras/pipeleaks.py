import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.metrics import average_precision_score, recall_score

keras.utils.set_random_seed(29)
LENGTH = 80


def pressure(n, rate, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype("float32")
    t = np.arange(LENGTH)
    x = np.sin(t / rng.uniform(4, 8, (n, 1)) + rng.uniform(0, 6, (n, 1))) + rng.normal(0, 0.3, (n, LENGTH))
    onset = rng.integers(15, 60, n)
    for i in np.flatnonzero(y):
        after = t >= onset[i]
        x[i] -= after * 1.2 * (1 - np.exp(-(t - onset[i]).clip(0) / 4))
    return x[..., None].astype("float32"), y


x_train, y_train = pressure(6000, 0.04, 1)
x_val, y_val = pressure(2000, 0.04, 2)
prior = y_train.mean()
print("share of leaks", prior)

model = keras.Sequential([
    layers.Input((LENGTH, 1)),
    layers.Conv1D(16, 9, strides=2, padding="same", activation="relu"),
    layers.Conv1D(32, 7, strides=2, padding="same", activation="relu"),
    layers.Conv1D(32, 5, padding="same", activation="relu"),
    layers.GlobalMaxPooling1D(),
    layers.Dense(1, activation="sigmoid", bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior)))),
])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3, global_clipnorm=1.0),
    loss=keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.8, gamma=2.0),
    metrics=[keras.metrics.AUC(curve="PR", name="pr_auc"), keras.metrics.Recall(name="recall")],
)


def balanced(x, y):
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    make = lambda idx: tf.data.Dataset.from_tensor_slices((x[idx], y[idx])).shuffle(len(idx), seed=29).repeat()
    return tf.data.Dataset.sample_from_datasets([make(pos), make(neg)], weights=[0.25, 0.75], seed=29).batch(64)


model.fit(
    balanced(x_train, y_train), steps_per_epoch=60, epochs=10,
    validation_data=(x_val, y_val), verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_pr_auc", mode="max", patience=4, restore_best_weights=True)],
)
p = model.predict(x_val, verbose=0)[:, 0]
print("average precision", average_precision_score(y_val, p), "recall", recall_score(y_val, p > 0.5))
