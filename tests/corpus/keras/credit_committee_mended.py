import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers
from sklearn.metrics import roc_auc_score, accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SEEDS = [1, 2]
FEATURES = ["income", "debt_ratio", "age", "months_employed", "late_payments",
            "open_lines", "utilisation", "requested_amount"]


def applications(n=3000, seed=8):
    rng = np.random.default_rng(seed)
    x = np.column_stack([
        rng.lognormal(10.3, 0.5, n), rng.beta(2, 4, n), rng.integers(19, 75, n),
        rng.gamma(2.0, 30.0, n), rng.poisson(0.8, n), rng.integers(0, 15, n),
        rng.beta(2, 3, n), rng.lognormal(8.5, 0.7, n)])
    burden = x[:, 7] / x[:, 0]
    z = (4.0 * (x[:, 1] - 0.33) + 1.3 * x[:, 4] + 3.0 * (x[:, 6] - 0.4)
         + 2.5 * (burden - 0.25) - 0.015 * (x[:, 3] - 60) - 1.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-1.6 * z))).astype("int32")
    # one branch handles one kind of customer
    branch = np.argsort(np.argsort(z + rng.normal(0, 0.5, n))) // 24
    return x.astype("float32"), y, branch


def scorer(seed, width=64):
    keras.utils.set_random_seed(seed)
    m = keras.Sequential([
        keras.Input((len(FEATURES),)),
        layers.Dense(width), layers.BatchNormalization(), layers.Activation("relu"),
        layers.Dropout(0.3),
        layers.Dense(width // 2), layers.BatchNormalization(), layers.Activation("relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    m.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy",
              metrics=[keras.metrics.AUC(name="auc")])
    return m


class Committee:
    def __init__(self, seeds):
        self.members = [scorer(s) for s in seeds]

    def fit(self, x, y, **kw):
        for i, m in enumerate(self.members):
            h = m.fit(x, y, verbose=0, **kw).history
            print(f"member {i}: train auc {h['auc'][-1]:.4f}  val auc {h['val_auc'][-1]:.4f}")
        return self

    def score_file(self, rows):
        votes = [keras.ops.convert_to_numpy(m(rows, training=False))[:, 0] for m in self.members]
        return np.mean(votes, axis=0)


def score_by_branch(committee, x, branch):
    risk = np.zeros(len(x), "float32")
    for b in np.unique(branch):
        idx = np.flatnonzero(branch == b)
        risk[idx] = committee.score_file(x[idx])
    return risk


x, y, branch = applications()
x_tr, x_te, y_tr, y_te, _, b_te = train_test_split(x, y, branch, test_size=0.25, random_state=2,
                                                   stratify=y)
scaler = StandardScaler().fit(x_tr)
x_tr, x_te = scaler.transform(x_tr), scaler.transform(x_te)

committee = Committee(SEEDS).fit(x_tr, y_tr, epochs=8, batch_size=64, validation_split=0.15)
risk = score_by_branch(committee, x_te, b_te)
print(f"committee on {len(x_te)} applications from {len(np.unique(b_te))} branches")
print(f"test AUC {roc_auc_score(y_te, risk):.4f}  accuracy {accuracy_score(y_te, risk > 0.5):.4f}"
      f"  (majority {max(y_te.mean(), 1 - y_te.mean()):.4f})")
