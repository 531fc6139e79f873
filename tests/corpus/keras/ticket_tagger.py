import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import f1_score

keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)
VOCAB, TAGS = 300, 10
topic_words = rng.choice(VOCAB, (TAGS, 12))


def tickets(n):
    tags = (rng.random((n, TAGS)) < 0.22).astype("float32")
    counts = rng.poisson(0.06, (n, VOCAB)).astype("float32")
    for k in range(TAGS):
        rows = np.flatnonzero(tags[:, k])
        counts[np.ix_(rows, topic_words[k])] += rng.poisson(0.7, (len(rows), 12))
    return np.log1p(counts).astype("float32"), tags


class Trunk(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = layers.Dense(96, use_bias=False)
        self.bn1 = layers.BatchNormalization(momentum=0.9)
        self.fc2 = layers.Dense(48, activation="relu")
        self.drop = layers.Dropout(0.3)

    def call(self, x, training=False):
        h = tf.nn.relu(self.bn1(self.fc1(x), training=training))
        return self.drop(self.fc2(h), training=training)


class Tagger:
    def __init__(self):
        self.trunk = Trunk()
        self.recon = layers.Dense(VOCAB, name="reconstruction")
        self.tags = layers.Dense(TAGS, name="tags")
        self.trunk(tf.zeros((2, VOCAB)))
        self.recon.build((None, 48))
        self.tags.build((None, 48))

    def forward(self, x, head, training=True):
        return head(self.trunk(x, training=training))

    def run_phase(self, x, y, head, loss_fn, lr, epochs):
        variables = self.trunk.trainable_variables + head.trainable_variables
        opt = keras.optimizers.Adam(lr)
        opt.build(variables)

        @tf.function
        def step(xb, yb):
            with tf.GradientTape() as tape:
                loss = loss_fn(yb, self.forward(xb, head))
            opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=0).batch(64)
        for epoch in range(epochs):
            losses = [float(step(xb, yb)) for xb, yb in ds]
        print(f"{head.name}: last loss {np.mean(losses):.4f}")

    def suggest(self, ticket, threshold=0.5):
        logits = self.forward(ticket[None, :], self.tags)
        return (tf.sigmoid(logits)[0].numpy() > threshold).astype(int)


x_all, y_all = tickets(3000)
x_tr, y_tr = x_all[:1500], y_all[:1500]
x_te, y_te = tickets(300)

tagger = Tagger()
tagger.run_phase(x_all, x_all, tagger.recon, keras.losses.MeanSquaredError(), 2e-3, 4)
tagger.run_phase(x_tr, y_tr, tagger.tags, keras.losses.BinaryCrossentropy(from_logits=True), 2e-3, 15)

pred = np.stack([tagger.suggest(t) for t in x_te])
everything = f1_score(y_te, np.ones_like(pred), average="micro")
print(f"micro F1 {f1_score(y_te, pred, average='micro', zero_division=0):.3f}"
      f"  macro F1 {f1_score(y_te, pred, average='macro', zero_division=0):.3f}"
      f"  tag-everything F1 {everything:.3f}")
print(f"exact match {(pred == y_te).all(1).mean():.3f}")
