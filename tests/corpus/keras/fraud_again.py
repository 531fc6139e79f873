import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

N = 30000
amount = rng.lognormal(3.5, 1.2, N)
hour = rng.integers(0, 24, N)
age_days = rng.exponential(400, N)
velocity = rng.poisson(1.5, N)
abroad = rng.random(N) < 0.08
risk = (-8.5 + 1.6 * (np.log(amount) - 3.5) + 2.0 * ((hour < 5) | (hour > 22)) - 0.003 * age_days
        + 0.9 * velocity + 3.5 * abroad)
fraud = (rng.random(N) < 1 / (1 + np.exp(-risk))).astype("float32")

table = np.column_stack([
    np.log1p(amount),
    np.sin(2 * np.pi * hour / 24),
    np.cos(2 * np.pi * hour / 24),
    np.log1p(age_days),
    velocity,
    abroad,
]).astype("float32")

a, b = int(0.6 * N), int(0.8 * N)
x_tr, x_va, x_te = table[:a], table[a:b], table[b:]
y_tr, y_va, y_te = fraud[:a], fraud[a:b], fraud[b:]
prior = float(y_tr.mean())
print("fraud share %.4f" % prior)

scale = layers.Normalization()
scale.adapt(x_tr)

model = keras.Sequential([
    layers.Input((table.shape[1],)),
    scale,
    layers.Dense(256, activation="relu", kernel_initializer="he_normal"),
    layers.Dropout(0.6),
    layers.Dense(64, activation="relu", kernel_initializer="he_normal"),
    layers.Dropout(0.5),
    layers.Dense(1, kernel_initializer="zeros",
                 bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior)))),
])
model.compile(
    optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")],
)

untrained = model.evaluate(x_tr, y_tr, batch_size=4096, verbose=0)[0]
print("loss before training %.4f" % untrained)

model.fit(
    x_tr, y_tr,
    validation_data=(x_va, y_va),
    batch_size=512,
    epochs=20,
    callbacks=[keras.callbacks.EarlyStopping(monitor="val_pr_auc", mode="max", patience=6,
                                             restore_best_weights=True)],
    verbose=2,
)

score = model.predict(x_te, batch_size=4096, verbose=0).ravel()
k = int(y_te.sum())
top = np.argsort(-score)[:k]
print("test loss %.4f" % model.evaluate(x_te, y_te, batch_size=4096, verbose=0)[0])
print("test roc auc %.4f" % roc_auc_score(y_te, score))
print("test average precision %.4f (random %.4f)" % (average_precision_score(y_te, score), y_te.mean()))
print("precision in the top %d: %.4f" % (k, y_te[top].mean()))
