"""Tags and popularity of stock photos from precomputed descriptors."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf
from sklearn.metrics import f1_score, r2_score

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
TAGS = ["beach", "city", "food", "forest", "night", "people", "pet", "snow"]


def make_catalogue(n, dim=40):
    directions = rng.normal(size=(dim, len(TAGS)))
    appeal = rng.normal(size=len(TAGS))
    present = (rng.random((n, len(TAGS))) < 0.25).astype("float32")
    features = present @ directions.T + rng.normal(0, 1.2, (n, dim))
    downloads = np.exp(present @ appeal + rng.normal(0, 0.3, n) + 2)
    score = np.log1p(downloads)
    return features.astype("float32"), present, ((score - score.mean()) / score.std()).astype("float32")


x, tags, popularity = make_catalogue(4000)
x = (x - x[:3200].mean(0)) / x[:3200].std(0)
train = tf.data.Dataset.from_tensor_slices((x[:3200], tags[:3200], popularity[:3200])).shuffle(3200).batch(64)
test_x, test_tags, test_pop = x[3200:], tags[3200:], popularity[3200:]


def build():
    inputs = keras.Input((x.shape[1],))
    h = keras.layers.Dense(96, activation="relu")(inputs)
    h = keras.layers.Dropout(0.1)(h)
    h = keras.layers.Dense(48, activation="relu")(h)
    return keras.Model(inputs, {
        "tags": keras.layers.Dense(len(TAGS), name="tags")(h),
        "popularity": keras.layers.Dense(1, name="popularity")(h),
    })


def compute_losses(out, tags, popularity):
    per_tag = tf.nn.sigmoid_cross_entropy_with_logits(labels=tags, logits=out["tags"])
    tag_loss = tf.reduce_mean(per_tag)
    pop_loss = tf.reduce_mean(tf.square(popularity - out["popularity"]))
    return tag_loss, pop_loss


model = build()
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)


@tf.function
def train_step(x, tags, popularity):
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        tag_loss, pop_loss = compute_losses(out, tags, popularity)
        loss = tag_loss + 0.5 * pop_loss
    grads = tape.gradient(loss, model.trainable_weights)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return tag_loss, pop_loss


for epoch in range(12):
    sums, n = np.zeros(2), 0
    for batch in train:
        sums += [float(v) for v in train_step(*batch)]
        n += 1
    print("epoch %2d tag loss %.4f popularity loss %.4f" % (epoch + 1, *(sums / n)))

out = model(test_x, training=False)
print("tag micro F1 %.3f" % f1_score(test_tags, out["tags"].numpy() > 0, average="micro"))
print("popularity R2 %.3f" % r2_score(test_pop, out["popularity"].numpy()[:, 0]))
