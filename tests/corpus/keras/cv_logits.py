"""5-fold evaluation of a click model on synthetic, imbalanced data."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import gc
import keras
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import QuantileTransformer


def new_model(width, bias):
    model = keras.Sequential([
        keras.layers.Dense(width, activation="swish", kernel_initializer="he_normal"),
        keras.layers.Dense(1, kernel_initializer="zeros",
                           bias_initializer=keras.initializers.Constant(bias)),
    ])
    model.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0),
                 keras.metrics.AUC(from_logits=True, name="auc")],
    )
    return model


def run():
    X, y = make_classification(2500, 16, n_informative=8, weights=[0.85], class_sep=1.2,
                               flip_y=0.02, random_state=4)
    y = y.astype("float32")
    aucs, balanced = [], []
    for fold, (tr, te) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        keras.backend.clear_session()
        keras.utils.set_random_seed(fold)
        qt = QuantileTransformer(n_quantiles=200, output_distribution="normal").fit(X[tr])
        a, b = qt.transform(X[tr]), qt.transform(X[te])
        rate = y[tr].mean()
        model = new_model(48, float(np.log(rate / (1 - rate))))
        model.fit(a, y[tr], epochs=6, batch_size=64, verbose=0)
        z = model.predict(b, verbose=0)[:, 0]
        cut = np.quantile(model.predict(a, verbose=0)[:, 0], 1 - rate)
        aucs.append(roc_auc_score(y[te], z))
        balanced.append(balanced_accuracy_score(y[te], z > cut))
        print(f"fold {fold}: auc={aucs[-1]:.3f} balanced accuracy={balanced[-1]:.3f}")
        del model
        gc.collect()
    print(f"mean auc {np.mean(aucs):.3f} +- {np.std(aucs):.3f}, balanced {np.mean(balanced):.3f}")


run()
