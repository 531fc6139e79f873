import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def transactions(n):
    amount = rng.lognormal(3.0, 1.0, n)
    hour = rng.uniform(0, 24, n)
    distance = rng.exponential(20.0, n)
    n_last_hour = rng.poisson(1.0, n)
    foreign = rng.random(n) < 0.1
    risk = (
        1.4 * (np.log(amount) - 3.0) + 1.2 * np.cos((hour - 3) / 24 * 2 * np.pi)
        + 0.03 * distance + 0.7 * n_last_hour + 1.5 * foreign
    )
    fraud = risk + rng.logistic(size=n) * 0.35 > 5.3
    columns = [np.log(amount), np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi),
               distance, n_last_hour, foreign]
    return np.stack(columns, axis=1).astype("float32"), fraud.astype("float32")


def detector(train_x, prior):
    scale = layers.Normalization()
    scale.adapt(train_x)
    start = float(np.log(prior / (1 - prior)))
    inputs = keras.Input((train_x.shape[1],))
    h = scale(inputs)
    h = layers.Dense(32, activation="relu")(h)
    h = layers.Dense(32, activation="relu")(h)
    margin = layers.Dense(1, bias_initializer=keras.initializers.Constant(start))(h)
    return keras.Model(inputs, margin)


X, y = transactions(12000)
X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
prior = y_fit.mean()
print(f"share of fraud {prior:.4f}")

model = detector(X_fit, prior)
model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[
        keras.metrics.BinaryAccuracy(threshold=0.0, name="acc"),
        keras.metrics.AUC(curve="PR", from_logits=True, name="pr"),
    ],
)
first = model.evaluate(X_fit, y_fit, verbose=0, return_dict=True)
print(f"loss before training {first['loss']:.4f}")

stop = keras.callbacks.EarlyStopping(monitor="val_pr", mode="max", patience=5, restore_best_weights=True)
model.fit(
    X_fit, y_fit, validation_split=0.2, epochs=15, batch_size=256, callbacks=[stop], verbose=2
)

margin = model.predict(X_test, verbose=0).ravel()
flagged = margin > 0
caught = np.sum(flagged & (y_test == 1)) / y_test.sum()
precision = np.sum(flagged & (y_test == 1)) / max(flagged.sum(), 1)
print(f"test accuracy {np.mean(flagged == (y_test == 1)):.4f}, all-negative {1 - y_test.mean():.4f}")
print(f"roc auc {roc_auc_score(y_test, margin):.4f}")
print(f"average precision {average_precision_score(y_test, margin):.4f}, of chance {y_test.mean():.4f}")
print(f"recall {caught:.3f} precision {precision:.3f}")
