"""Rare-event detection: focal loss inside an overridden train_step, output bias set to the prior."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(23)


class AlertModel(keras.Model):
    """Adds a focal term and keeps an exponential average of the weights for scoring."""

    def __init__(self, net, gamma=1.5, alpha=0.8, decay=0.98):
        super().__init__()
        self.net = net
        self.gamma, self.alpha, self.decay = gamma, alpha, decay
        self.shadow = keras.models.clone_model(net)
        self.shadow.set_weights(net.get_weights())
        self.shadow.trainable = False
        self.mean_loss = keras.metrics.Mean(name="loss")
        self.pr_auc = keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")

    @property
    def metrics(self):
        return [self.mean_loss, self.pr_auc]

    def call(self, x, training=False):
        return self.net(x, training=True) if training else self.shadow(x, training=False)

    def focal(self, y, logits):
        y = tf.cast(y, tf.float32)
        ce = tf.nn.sigmoid_cross_entropy_with_logits(y, logits)
        p_true = tf.exp(-ce)
        weight = y * self.alpha + (1 - y) * (1 - self.alpha)
        # divided by the number of positives, as in RetinaNet
        positives = tf.maximum(tf.reduce_sum(y), 1.0)
        return tf.reduce_sum(weight * (1 - p_true) ** self.gamma * ce) / positives

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)[:, 0]
            loss = self.focal(y, logits)
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        for s, w in zip(self.shadow.weights, self.net.weights):
            s.assign(self.decay * s + (1 - self.decay) * w)
        self.mean_loss.update_state(loss)
        self.pr_auc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        logits = self.shadow(x, training=False)[:, 0]
        self.mean_loss.update_state(self.focal(y, logits))
        self.pr_auc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


x, y = make_classification(n_samples=12000, n_features=24, n_informative=10, n_clusters_per_class=2,
                           weights=[0.97], class_sep=1.5, flip_y=0.004, random_state=3)
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=3)
x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=0.2, stratify=y_tr, random_state=3)
sc = StandardScaler().fit(x_tr)
x_tr, x_va, x_te = (sc.transform(a).astype("float32") for a in (x_tr, x_va, x_te))
prior = y_tr.mean()
print(f"positives in train: {y_tr.sum()} of {len(y_tr)} ({prior:.3%})")

net = keras.Sequential([
    keras.Input((24,)),
    layers.Dense(64, activation="silu"),
    layers.Dropout(0.1),
    layers.Dense(32, activation="silu"),
    layers.Dense(1, bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior)))),
])
model = AlertModel(net)
model.compile(optimizer=keras.optimizers.Adam(2e-3))
model.fit(x_tr, y_tr, validation_data=(x_va, y_va), batch_size=256, epochs=15, verbose=2)

score = model.predict(x_te, batch_size=1024, verbose=0)[:, 0]
print(f"test average precision {average_precision_score(y_te, score):.4f} (prevalence {y_te.mean():.4f}), "
      f"ROC AUC {roc_auc_score(y_te, score):.4f}")
