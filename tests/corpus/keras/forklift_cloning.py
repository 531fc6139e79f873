import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

ACTIONS = ["forward", "left", "right", "brake", "lift"]
STATE_DIM = 14
expert_w = np.random.default_rng(99).normal(0, 1, (STATE_DIM, len(ACTIONS)))


def drive(n_steps):
    s = rng.normal(0, 1, (n_steps, STATE_DIM))
    score = s @ expert_w + 0.8 * np.tanh(s[:, :5] * s[:, 5:10])
    score += np.array([5.5, 0.8, 0.8, -0.7, -1.5])
    score += rng.gumbel(0, 1.6, score.shape)
    return s.astype("float32"), score.argmax(1).astype("int32")


def balance_actions(s, a):
    top = np.bincount(a).max()
    picks = []
    for k in range(len(ACTIONS)):
        own = np.flatnonzero(a == k)
        picks.append(own)
        picks.append(rng.choice(own, top - len(own)))
    picks = rng.permutation(np.concatenate(picks))
    return s[picks], a[picks]


class FocalLoss(keras.losses.Loss):
    def __init__(self, gamma=1.0, name="focal"):
        super().__init__(name=name)
        self.gamma = gamma

    def call(self, y_true, y_pred):
        y_true = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
        logp = tf.gather(tf.nn.log_softmax(y_pred), y_true, batch_dims=1)
        return -((1.0 - tf.exp(logp)) ** self.gamma) * logp


def policy_net(width):
    return keras.Sequential([
        layers.Input((STATE_DIM,)),
        layers.Dense(width, activation="relu"),
        layers.Dense(width, activation="relu"),
        layers.Dense(len(ACTIONS)),
    ])


class Cloner:
    def __init__(self, width=96, lr=1e-3, epochs=15):
        self.net = policy_net(width)
        self.net.compile(optimizer=keras.optimizers.Adam(lr), loss=FocalLoss(), metrics=["accuracy"])
        self.epochs = epochs

    def fit(self, s, a):
        h = self.net.fit(s, a, epochs=self.epochs, batch_size=64, verbose=0)
        print(f"train loss {h.history['loss'][-1]:.3f} accuracy {h.history['accuracy'][-1]:.3f}")

    def act(self, s):
        return self.net.predict(s, verbose=0, batch_size=512).argmax(1)


states, actions = drive(5000)
print("recorded actions", np.bincount(actions))

states, actions = balance_actions(states, actions)
s_tr, s_te, a_tr, a_te = train_test_split(states, actions, test_size=0.25, random_state=1)

robot = Cloner()
robot.fit(s_tr, a_tr)

offline = balanced_accuracy_score(a_te, robot.act(s_te))
shift_s, shift_a = drive(4000)
live = balanced_accuracy_score(shift_a, robot.act(shift_s))
print(f"held-out balanced accuracy {offline:.3f}  (chance {1 / len(ACTIONS):.2f})")
print(f"next shift balanced accuracy {live:.3f}")
