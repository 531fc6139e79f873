import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

keras.utils.set_random_seed(31)


def payments(n, seed):
    g = np.random.default_rng(seed)
    df = pd.DataFrame({
        "amount": g.lognormal(4.0, 1.2, n),
        "hour": g.integers(0, 24, n),
        "age_days": g.exponential(400, n),
        "country": g.choice(["DE", "FR", "NL", "US", "BR", "NG"], n, p=[.4, .2, .2, .1, .06, .04]),
        "channel": g.choice(["web", "app", "phone"], n),
    })
    z = (-8.1 + 1.1 * (np.log(df.amount) - 4) + 2.2 * df.country.isin(["BR", "NG"])
         + 1.8 * (df.hour < 5) - 0.8 * np.log1p(df.age_days / 100) + 1.0 * (df.channel == "phone") + 2.0)
    df["fraud"] = (g.random(n) < 1 / (1 + np.exp(-z))).astype("int32")
    return df


train, valid, test = payments(16000, 1), payments(5000, 2), payments(5000, 3)
pos_rate = train.fraud.mean()
print(f"fraud rate: {pos_rate:.4f}")

NUMERIC = ["amount", "age_days"]
TEXT = ["country", "channel"]


def to_dataset(df, shuffle=False):
    df = df.copy()
    y = df.pop("fraud").to_numpy("float32")
    x = {c: df[c].to_numpy("float32")[:, None] for c in NUMERIC}
    x["hour"] = df["hour"].to_numpy("int64")[:, None]
    for c in TEXT:
        x[c] = df[c].to_numpy(str)[:, None]
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        ds = ds.shuffle(len(df), seed=0)
    return ds.batch(256).map(lambda f, y: (prepare(f), y), num_parallel_calls=2).prefetch(2)


norms = {c: layers.Normalization(axis=-1) for c in NUMERIC}
for c, n in norms.items():
    n.adapt(np.log1p(train[c].to_numpy("float32"))[:, None])
lookups = {c: layers.StringLookup(vocabulary=sorted(train[c].unique()), output_mode="one_hot") for c in TEXT}
hours = layers.CategoryEncoding(num_tokens=24, output_mode="one_hot")


def prepare(f):
    cols = [norms[c](tf.math.log1p(f[c])) for c in NUMERIC]
    cols += [lookups[c](f[c]) for c in TEXT] + [hours(f["hour"])]
    return tf.concat([tf.cast(c, tf.float32) for c in cols], axis=-1)


train_ds, valid_ds, test_ds = to_dataset(train, True), to_dataset(valid), to_dataset(test)
width = train_ds.element_spec[0].shape[-1]

model = keras.Sequential([
    keras.Input((width,)),
    layers.Dense(32, activation="relu", kernel_regularizer=keras.regularizers.l2(1e-4)),
    layers.Dropout(0.3),
    layers.Dense(1, activation="sigmoid"),
])
weights = {0: 0.5 / (1 - pos_rate), 1: 0.5 / pos_rate}
print("class weights:", {k: round(float(v), 2) for k, v in weights.items()})
model.compile("adam", "binary_crossentropy",
              metrics=[keras.metrics.AUC(curve="PR", name="pr"), keras.metrics.Recall(name="recall")])
model.fit(train_ds, validation_data=valid_ds, epochs=25, class_weight=weights, verbose=2, callbacks=[
    keras.callbacks.EarlyStopping("val_pr", mode="max", patience=6, restore_best_weights=True),
    keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=3)])

p = model.predict(test_ds, verbose=0).ravel()
y = test.fraud.to_numpy()
print(f"test ROC AUC {roc_auc_score(y, p):.3f}  PR AUC {average_precision_score(y, p):.3f} (base {y.mean():.3f})")
print(confusion_matrix(y, p > 0.5))
