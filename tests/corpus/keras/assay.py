import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import average_precision_score, roc_auc_score

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

# compounds x 6 toxicity assays; most assays were run on some of the compounds only (-1 = not measured)
N, D, T = 5000, 64, 6
x = (rng.random((N, D)) < rng.uniform(0.05, 0.5, size=D)).astype("float32")
score = x @ rng.normal(size=(D, T)) + 2.0 * (x[:, :T] * x[:, T:2 * T]) + 0.4 * rng.normal(size=(N, T))
y = np.stack([score[:, j] > np.quantile(score[:, j], q)
              for j, q in enumerate([0.95, 0.9, 0.96, 0.8, 0.93, 0.9])], axis=1).astype("float32")
y_seen = np.where(rng.random((N, T)) < 0.4, -1.0, y).astype("float32")
x_tr, x_te, y_tr, y_te = x[:4000], x[4000:], y_seen[:4000], y_seen[4000:]

pos = (y_tr == 1).sum(0)
neg = (y_tr == 0).sum(0)
pos_weight = tf.constant(np.sqrt(neg / pos), tf.float32)

trunk = keras.Sequential([
    keras.Input((D,)),
    keras.layers.Dense(96, activation="relu"),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(64, activation="relu"),
])
head = keras.layers.Dense(T, bias_initializer=keras.initializers.Constant(np.log(pos / neg)))
head.build((None, 64))
trunk_opt = keras.optimizers.Adam(1e-3)
head_opt = keras.optimizers.SGD(0.1, momentum=0.9)
trunk_opt.build(trunk.trainable_variables)
head_opt.build(head.trainable_variables)
ACCUM = 2
variables = trunk.trainable_variables + head.trainable_variables
split = len(trunk.trainable_variables)


@tf.function
def gradients(xb, yb):
    with tf.GradientTape() as tape:
        logits = head(trunk(xb, training=True))
        known = tf.cast(yb >= 0, tf.float32)
        each = tf.nn.weighted_cross_entropy_with_logits(tf.maximum(yb, 0.0), logits, pos_weight)
        loss = tf.reduce_sum(each * known) / tf.maximum(tf.reduce_sum(known), 1.0)
    return loss, tape.gradient(loss, variables)


ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(4000).batch(32, drop_remainder=True)
for epoch in range(12):
    losses, total = [], None
    for i, (xb, yb) in enumerate(ds):
        loss, grads = gradients(xb, yb)
        losses.append(loss.numpy())
        total = grads if total is None else [a + g for a, g in zip(total, grads)]
        if (i + 1) % ACCUM == 0:
            mean = [a / ACCUM for a in total]
            trunk_opt.apply_gradients(zip(mean[:split], variables[:split]))
            head_opt.apply_gradients(zip(mean[split:], variables[split:]))
            total = None
    print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}")

prob = tf.sigmoid(head(trunk(x_te, training=False))).numpy()
for j in range(T):
    known = y_te[:, j] >= 0
    t, p = y_te[known, j], prob[known, j]
    print(f"assay {j}: n={known.sum()} positives={t.mean():.2f} auc={roc_auc_score(t, p):.3f} ap={average_precision_score(t, p):.3f}")
