# Card fraud scoring: 4 % positives, focal loss, early stopping on PR-AUC, threshold by cost.
import os

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, precision_recall_curve, recall_score, precision_score

os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(99)
N_MERCHANTS = 40
COST_MISS, COST_ALARM = 100.0, 4.0


def transactions(n, seed):
    r = np.random.default_rng(seed)
    hour = r.integers(0, 24, n)
    amount = np.exp(r.normal(3.2, 1.1, n))
    merchant = r.integers(0, N_MERCHANTS, n)
    distance = r.exponential(12, n)
    recent = r.poisson(1.5, n)
    new_device = (r.random(n) < 0.08).astype(float)
    shady = np.isin(merchant, [3, 7, 18, 26, 33])
    night = (hour < 5)
    score = (-8.6 + 0.9 * (np.log(amount) - 3.2) + 2.4 * shady + 1.6 * night
             + 0.03 * distance + 2.6 * new_device * (np.log(amount) > 3.5) + 0.5 * np.maximum(recent - 3, 0)
             + 2.5 * shady * night)
    y = (r.random(n) < 1 / (1 + np.exp(-1.6 * (score + 3.4)))).astype("float32")
    num = np.stack([np.log(amount), distance, recent, new_device,
                    np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12)], 1).astype("float32")
    return {"num": num, "merchant": merchant.astype("int32")}, y


x_train, y_train = transactions(24000, 0)
x_val, y_val = transactions(8000, 1)
x_test, y_test = transactions(12000, 2)
rate = y_train.mean()
print(f"fraud rate train {rate:.4f} val {y_val.mean():.4f} test {y_test.mean():.4f}")

norm = layers.Normalization()
norm.adapt(x_train["num"])

num = keras.Input((6,), name="num")
merchant = keras.Input((), dtype="int32", name="merchant")
h = layers.Concatenate()([norm(num), layers.Embedding(N_MERCHANTS, 6)(merchant)])
h = layers.Dense(48, activation="relu")(h)
h = layers.Dropout(0.2)(h)
h = layers.Dense(24, activation="relu")(h)
prior = keras.initializers.Constant(float(np.log(rate / (1 - rate))))
p = layers.Dense(1, activation="sigmoid", bias_initializer=prior, name="p_fraud")(h)
model = keras.Model({"num": num, "merchant": merchant}, p)

model.compile(
    optimizer=keras.optimizers.Nadam(2e-3),
    loss=keras.losses.BinaryFocalCrossentropy(gamma=1.5),
    metrics=[keras.metrics.AUC(curve="PR", name="pr_auc")],
)
model.fit(
    x_train, y_train,
    validation_data=(x_val, y_val),
    epochs=10,
    batch_size=512,
    class_weight={0: 1.0, 1: 5.0},
    callbacks=[
        keras.callbacks.EarlyStopping(monitor="val_pr_auc", mode="max", patience=4,
                                      restore_best_weights=True),
        keras.callbacks.ModelCheckpoint("out/fraud.keras", monitor="val_pr_auc", mode="max",
                                        save_best_only=True),
    ],
    verbose=2,
)


def cost(y, flag):
    return (COST_MISS * np.sum((y == 1) & ~flag) + COST_ALARM * np.sum((y == 0) & flag)) / len(y)


p_val = model.predict(x_val, batch_size=2048, verbose=0)[:, 0]
p_test = model.predict(x_test, batch_size=2048, verbose=0)[:, 0]

# the loss distorts probabilities, so the cut-off comes from the validation set
_, _, cuts = precision_recall_curve(y_val, p_val)
cuts = np.quantile(cuts, np.linspace(0, 1, 200))
best = min(cuts, key=lambda c: cost(y_val, p_val >= c))
flag = p_test >= best
print(f"cut-off {best:.3f}: precision {precision_score(y_test, flag):.3f} "
      f"recall {recall_score(y_test, flag):.3f}")
print(f"test PR-AUC {average_precision_score(y_test, p_test):.3f} (random {y_test.mean():.3f})  "
      f"cost per transaction {cost(y_test, flag):.3f} "
      f"(flag nothing {cost(y_test, np.zeros(len(y_test), bool)):.3f}, "
      f"flag all {cost(y_test, np.ones(len(y_test), bool)):.3f})")
