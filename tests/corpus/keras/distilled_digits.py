import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(101)


def load():
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    return train_test_split(x, y, test_size=0.25, random_state=2, stratify=y)


def make_teacher():
    net = keras.Sequential([
        layers.Input((64,)),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(128, activation="relu"),
        layers.Dense(10),
    ])
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return net


def make_student():
    net = keras.Sequential([
        layers.Input((64,)),
        layers.Dense(24, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ])
    net.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss=keras.losses.KLDivergence(),
        metrics=[keras.metrics.CategoricalAccuracy(name="agreement")],
    )
    return net


def soften(logits, temperature):
    z = logits / temperature
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


x_tr, x_te, y_tr, y_te = load()
teacher = make_teacher()
teacher.fit(x_tr, y_tr, epochs=20, batch_size=64, verbose=0)
teacher_acc = teacher.evaluate(x_te, y_te, verbose=0)[1]

soft = soften(teacher.predict(x_tr, verbose=0), temperature=2.0)
noise = np.random.default_rng(0).normal(0, 0.1, x_tr.shape).astype("float32")
soft_noisy = soften(teacher.predict(x_tr + noise, verbose=0), temperature=2.0)
pool_x = np.concatenate([x_tr, x_tr + noise])
pool_y = np.concatenate([soft, soft_noisy])

student = make_student()
hist = student.fit(pool_x, pool_y, epochs=25, batch_size=64, verbose=0)
probs = student.predict(x_te, verbose=0)
acc = (probs.argmax(1) == y_te).mean()
print(f"teacher accuracy {teacher_acc:.3f}")
print(f"student KL {hist.history['loss'][0]:.4f} -> {hist.history['loss'][-1]:.4f}")
print(f"student accuracy {acc:.3f} (chance 0.10)")
