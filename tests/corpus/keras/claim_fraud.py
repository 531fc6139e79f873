# insurance claims: find the few that deserve a second look
import numpy as np
import keras
from keras import layers
from sklearn.model_selection import train_test_split
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

SEED = 21
keras.utils.set_random_seed(SEED)


def load_claims(n=8000):
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(n, 18)).astype("float32")
    score = 2.2 * x[:, 0] + 1.8 * x[:, 1] + 1.2 * np.abs(x[:, 2]) - 1.5 * x[:, 4]
    score += rng.normal(0, 0.6, n)
    y = (score > np.quantile(score, 0.94)).astype("int32")
    return x, y


def oversample(x, y):
    """Repeat the rare class until both classes are equally common."""
    rng = np.random.default_rng(SEED + 1)
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    extra = rng.choice(pos, len(neg) - len(pos), replace=True)
    idx = rng.permutation(np.concatenate([neg, pos, extra]))
    return x[idx], y[idx]


def make_model(n_features):
    return keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])


x, y = load_claims()
print("claims:", len(y), "suspicious:", int(y.sum()))

x, y = oversample(x, y)
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, stratify=y, random_state=SEED)

mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_val = (x_val - mean) / std

model = make_model(x.shape[1])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[keras.metrics.AUC(name="auc"), keras.metrics.Recall(name="recall")],
)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=64, verbose=2)

p = model.predict(x_val, verbose=0)[:, 0]
prec, rec, f1, _ = precision_recall_fscore_support(y_val, p > 0.5, average="binary")
print(f"held-out precision {prec:.3f} recall {rec:.3f} f1 {f1:.3f} auc {roc_auc_score(y_val, p):.3f}")
