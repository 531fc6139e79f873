"""Bag-of-words flags for rare urgent notes: softmax regression, plain SGD."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
COMMON = [f"w{i}" for i in range(400)]
URGENT = ["bleeding", "collapse", "chest", "seizure", "unconscious", "anaphylaxis"]
MILD = ["rash", "cough", "checkup", "refill", "followup", "vaccine"]
VOCAB = {w: i for i, w in enumerate(COMMON + URGENT + MILD)}


def note():
    urgent = rng.random() < 0.06
    ws = list(rng.choice(COMMON, rng.integers(20, 40)))
    ws += list(rng.choice(URGENT if urgent else MILD, rng.integers(2, 4)))
    if rng.random() < 0.1:
        ws.append(str(rng.choice(MILD if urgent else URGENT)))
    return ws, int(urgent)


def vectorise(notes):
    x = np.zeros((len(notes), len(VOCAB)), "float32")
    for i, (ws, _) in enumerate(notes):
        for w in ws:
            x[i, VOCAB[w]] += 1
        x[i] /= len(ws)
    return x, np.array([y for _, y in notes], "float32")


x_tr, y_tr = vectorise([note() for _ in range(5000)])
x_te, y_te = vectorise([note() for _ in range(2000)])
pos = y_tr.mean()
print("urgent share", pos)

out = keras.layers.Dense(1, use_bias=False)
model = keras.Sequential([keras.Input((len(VOCAB),)), out])
# term frequencies are about 1/30, so steps have to be large
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=20.0),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc"),
             keras.metrics.Recall(thresholds=0.0, name="recall"),
             keras.metrics.Precision(thresholds=0.0, name="precision")],
)
weights = {0: 0.5 / (1 - pos), 1: 0.5 / pos}
model.fit(x_tr, y_tr, epochs=30, batch_size=250, class_weight=weights,
          validation_data=(x_te, y_te), verbose=2)
print(model.evaluate(x_te, y_te, verbose=0, return_dict=True))
w = out.get_weights()[0][:, 0]
names = list(VOCAB)
print("strongest:", [names[i] for i in np.argsort(-w)[:6]])
