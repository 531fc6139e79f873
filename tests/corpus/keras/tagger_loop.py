"""Wide and deep tagger: six tags a ticket, two optimizers, gradients gathered over micro-batches."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import average_precision_score

SEED = 21
TAGS = 6
WORDS = 150
MICRO = 4
GATHER = 8           # micro-batches in one step
STEPS = 350


def make_tickets(n, rng, topics, rare):
    chosen = rng.random((n, TAGS)) < rare
    counts = np.zeros((n, WORDS), dtype="float32")
    for i in range(n):
        rate = np.full(WORDS, 0.05)
        for k in np.flatnonzero(chosen[i]):
            rate[topics[k]] += 0.45
        # tags 0 and 1 together bring words of their own and lose their usual ones
        if chosen[i, 0] and chosen[i, 1]:
            rate[topics[0]] = 0.05
            rate[topics[1]] = 0.05
            rate[:6] += 0.8
        counts[i] = rng.poisson(rate)
    return np.log1p(counts), chosen.astype("float32")


class Wide(keras.Model):
    def __init__(self, bias):
        super().__init__()
        self.out = layers.Dense(TAGS, kernel_initializer="zeros",
                                bias_initializer=keras.initializers.Constant(bias))

    def call(self, x):
        return self.out(x)


class Deep(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [layers.Dense(48, activation="gelu"), layers.Dense(32, activation="gelu")]
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(TAGS, use_bias=False)

    def call(self, x, training=False):
        for layer in self.hidden:
            x = self.drop(layer(x), training=training)
        return self.out(x)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    topics = [rng.choice(np.arange(6, WORDS), 12, replace=False) for _ in range(TAGS)]
    rare = np.array([0.3, 0.3, 0.15, 0.1, 0.1, 0.06])
    x_train, y_train = make_tickets(4000, rng, topics, rare)
    x_test, y_test = make_tickets(1000, rng, topics, rare)

    wide, deep = Wide(float(np.log(0.16 / 0.84))), Deep()
    wide(x_train[:1])
    deep(x_train[:1])
    wide_opt = keras.optimizers.SGD(0.2)
    deep_opt = keras.optimizers.AdamW(2e-3, weight_decay=1e-3)
    wide_opt.build(wide.trainable_variables)
    deep_opt.build(deep.trainable_variables)
    weights = wide.trainable_variables + deep.trainable_variables
    positive = tf.constant(np.minimum((1 - rare) / rare, 6.0), tf.float32)

    @tf.function
    def gradients(x, y):
        with tf.GradientTape() as tape:
            logits = wide(x) + deep(x, training=True)
            loss = tf.reduce_sum(tf.nn.weighted_cross_entropy_with_logits(y, logits, positive))
        return loss, tape.gradient(loss, weights)

    data = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    stream = iter(data.shuffle(4000, seed=SEED).repeat().batch(MICRO))
    terms = MICRO * GATHER * TAGS
    seen = []
    for step in range(1, STEPS + 1):
        total = [tf.zeros_like(w) for w in weights]
        loss_sum = 0.0
        for _ in range(GATHER):
            loss, grads = gradients(*next(stream))
            total = [t + g for t, g in zip(total, grads)]
            loss_sum += float(loss)
        total = [t / terms for t in total]
        cut = len(wide.trainable_variables)
        wide_opt.apply(total[:cut], wide.trainable_variables)
        deep_opt.apply(total[cut:], deep.trainable_variables)
        seen.append(loss_sum / terms)
        if step % 50 == 0:
            print(f"step {step:4d}  loss {np.mean(seen[-50:]):.4f}")

    scores = tf.sigmoid(wide(x_test) + deep(x_test, training=False)).numpy()
    print("average precision", round(average_precision_score(y_test, scores, average="macro"), 3),
          "by chance", round(float(y_test.mean()), 3))


if __name__ == "__main__":
    main()
