"""Digit classifier that hands doubtful images to a person (votes of a noisy net)."""
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class Config:
    rate: float = 0.4
    votes: int = 30
    epochs: int = 25
    hand_over: float = 0.1


class VotingNet(keras.Model):
    def __init__(self, rate):
        super().__init__()
        self.scale = layers.Rescaling(1 / 16.0)
        self.d1 = layers.Dense(128, activation="relu")
        self.d2 = layers.Dense(64, activation="relu")
        self.drop1 = layers.Dropout(rate)
        self.drop2 = layers.Dropout(rate)
        self.out = layers.Dense(10)

    def call(self, x):
        h = self.drop1(self.d1(self.scale(x)), training=True)
        h = self.drop2(self.d2(h), training=True)
        return self.out(h)


def ballots(net, x, votes):
    return np.stack([ops.convert_to_numpy(ops.softmax(net(x))) for _ in range(votes)])


def entropy(p):
    return -(p * np.log(p + 1e-9)).sum(axis=-1)


cfg = Config()
keras.utils.set_random_seed(19)
x, y = load_digits(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(
    x.astype("float32"), y, test_size=0.3, stratify=y, random_state=2
)
net = VotingNet(cfg.rate)
net.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
log = net.fit(
    x_train, y_train, validation_data=(x_test, y_test), epochs=cfg.epochs, batch_size=32, verbose=0
).history
for e in range(0, cfg.epochs, 6):
    print(f"epoch {e:2d}  loss {log['loss'][e]:.4f}  val_accuracy {log['val_accuracy'][e]:.3f}")

p = ballots(net, x_test, cfg.votes)
single = np.mean(p[0].argmax(-1) == y_test)
mean = p.mean(axis=0)
right = mean.argmax(-1) == y_test
doubt = entropy(mean)
kept = doubt <= np.quantile(doubt, 1 - cfg.hand_over)
print(f"one vote {single:.3f}  {cfg.votes} votes {right.mean():.3f}  (chance 0.100)")
print(f"accuracy on the {kept.mean():.2f} kept {right[kept].mean():.3f}, on the handed over {right[~kept].mean():.3f}")
