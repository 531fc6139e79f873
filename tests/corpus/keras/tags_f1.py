"""Multi-label tagging: optimise the macro F1 directly."""
import keras
from keras import layers, ops
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(4)

X, Y = make_multilabel_classification(
    n_samples=5000, n_features=40, n_classes=6, n_labels=2, length=60, random_state=4
)
X = X.astype("float32")
Y = Y.astype("float32")
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, test_size=0.2, random_state=4)
print("label frequency:", Y_train.mean(0).round(2))


@keras.saving.register_keras_serializable()
class MacroF1Loss(keras.losses.Loss):
    """1 - F1, averaged over the labels of a batch"""

    def __init__(self, threshold=0.5, eps=1e-7, name="macro_f1", **kwargs):
        super().__init__(name=name, **kwargs)
        self.threshold = threshold
        self.eps = eps

    def call(self, y_true, y_pred):
        y_true = ops.cast(y_true, "float32")
        y_pred = ops.cast(y_pred > self.threshold, "float32")
        tp = ops.sum(y_true * y_pred, axis=0)
        fp = ops.sum((1 - y_true) * y_pred, axis=0)
        fn = ops.sum(y_true * (1 - y_pred), axis=0)
        f1 = 2 * tp / (2 * tp + fp + fn + self.eps)
        return 1 - f1


norm = layers.Normalization()
norm.adapt(X_train)

model = keras.Sequential(
    [
        layers.Input((X.shape[1],)),
        norm,
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(Y.shape[1], activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=MacroF1Loss(),
    metrics=[keras.metrics.F1Score(average="macro", threshold=0.5)],
)
model.summary()

stopper = keras.callbacks.EarlyStopping(
    monitor="val_f1_score", mode="max", patience=6, restore_best_weights=True
)
model.fit(
    X_train,
    Y_train,
    batch_size=128,
    epochs=25,
    validation_split=0.15,
    callbacks=[stopper],
    verbose=2,
)

Y_hat = (model.predict(X_test, verbose=0) > 0.5).astype(int)
print("macro F1 on test:", f1_score(Y_test, Y_hat, average="macro"))
