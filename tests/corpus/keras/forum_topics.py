"""
Bag-of-words topics with a big-step SGD and warm restarts.
"""
import numpy as np
import keras
from keras import layers
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import accuracy_score

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
VOCAB, TOPICS, DOCS = 800, 8, 3200

word_p = rng.dirichlet(np.full(VOCAB, 0.15), size=TOPICS)
background = rng.dirichlet(np.full(VOCAB, 0.5))
prior = rng.dirichlet(np.full(TOPICS, 6.0))


def docs(n):
    y = rng.choice(TOPICS, size=n, p=prior)
    counts = np.stack([
        rng.multinomial(rng.integers(20, 60), 0.3 * word_p[k] + 0.7 * background) for k in y
    ])
    return counts, y


counts, y = docs(DOCS)
n_tr, n_va = 2200, 400
tfidf = TfidfTransformer(sublinear_tf=True).fit(counts[:n_tr])
x = tfidf.transform(counts).toarray().astype("float32")

model = keras.Sequential([
    keras.Input((VOCAB,)),
    layers.Dropout(0.5),
    layers.Dense(64, activation="tanh"),
    layers.Dropout(0.5),
    layers.Dense(TOPICS),
])
steps = n_tr // 50
rate = keras.optimizers.schedules.CosineDecayRestarts(1.5, first_decay_steps=steps * 6, t_mul=2.0, m_mul=0.7)
model.compile(
    optimizer=keras.optimizers.SGD(rate, clipnorm=2.0),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)


class Log(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs):
        if epoch % 6 == 5:
            lr = float(rate(self.model.optimizer.iterations))
            print(f"{epoch + 1:3d} lr {lr:.3f} loss {logs['loss']:.3f} acc {logs['accuracy']:.3f} val_acc {logs['val_accuracy']:.3f}")


onehot = keras.utils.to_categorical(y, TOPICS)
model.fit(x[:n_tr], onehot[:n_tr], validation_data=(x[n_tr:n_tr + n_va], onehot[n_tr:n_tr + n_va]),
          batch_size=50, epochs=18, verbose=0, callbacks=[Log()])

test = slice(n_tr + n_va, None)
pred = model.predict(x[test], verbose=0).argmax(1)
print(f"test accuracy {accuracy_score(y[test], pred):.3f}, largest topic {np.bincount(y[test]).max() / len(pred):.3f}")
