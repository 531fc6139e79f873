import keras
import numpy as np
from keras import layers
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(11)

DISEASES = ["scab", "rust", "mildew", "blight"]
rng = np.random.default_rng(11)
n, d = 6000, 20
x = rng.normal(size=(n, d)) * rng.uniform(0.5, 20, size=d)
z = StandardScaler().fit_transform(x)
w = rng.normal(size=(d, len(DISEASES))) * 0.9
score = z @ w + 0.8 * z[:, :4] * z[:, 4:8] + rng.logistic(size=(n, 4)) * 0.8
y = (score > np.quantile(score, [0.93, 0.9, 0.95, 0.92], axis=0).diagonal()).astype("float32")
print("share of positives:", dict(zip(DISEASES, y.mean(0).round(3))))

x_tr, x_va, x_te = x[:4200], x[4200:5000], x[5000:]
y_tr, y_va, y_te = y[:4200], y[4200:5000], y[5000:]
scaler = StandardScaler().fit(x_tr)
x_tr, x_va, x_te = (scaler.transform(a).astype("float32") for a in (x_tr, x_va, x_te))

inputs = keras.Input((d,))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dropout(0.2)(h)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(len(DISEASES), name="diseases")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(multi_label=True, num_labels=len(DISEASES), name="auc")],
)
model.fit(
    x_tr, y_tr, validation_data=(x_va, y_va), epochs=20, batch_size=64, verbose=2,
    callbacks=[keras.callbacks.EarlyStopping("val_auc", mode="max", patience=6, restore_best_weights=True)],
)

result = model.evaluate(x_te, y_te, return_dict=True, verbose=0)
print("test:", {k: round(float(v), 4) for k, v in result.items()})
