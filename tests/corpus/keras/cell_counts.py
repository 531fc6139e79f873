"""Count cells on small micrographs; eight micro-batches are summed into one update."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
SIDE, MICRO, ACCUM = 32, 4, 8


def slide(n):
    yy, xx = np.mgrid[:SIDE, :SIDE]
    imgs = np.zeros((n, SIDE, SIDE, 1), "float32")
    counts = rng.integers(1, 11, n)
    for img, c in zip(imgs, counts):
        for _ in range(c):
            i, j, r = rng.uniform(3, SIDE - 3), rng.uniform(3, SIDE - 3), rng.uniform(1.2, 2.0)
            img[..., 0] += np.exp(-((yy - i) ** 2 + (xx - j) ** 2) / (2 * r * r))
    return imgs + rng.normal(0, 0.05, imgs.shape).astype("float32"), counts.astype("float32")


class Counter(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = tf.keras.layers.Conv2D(16, 5, padding="same", activation="relu")
        self.c2 = tf.keras.layers.Conv2D(16, 5, padding="same", activation="relu")
        self.density = tf.keras.layers.Conv2D(1, 1, activation="softplus", bias_initializer=tf.keras.initializers.Constant(-5.0))

    def call(self, x):
        return tf.reduce_sum(self.density(self.c2(self.c1(x))), axis=[1, 2, 3])


x_train, y_train = slide(2000)
x_test, y_test = slide(400)
model = Counter()
model(x_train[:1])
opt = tf.keras.optimizers.Adam(3e-3)
opt.build(model.trainable_variables)
store = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
huber = tf.keras.losses.Huber(delta=1.0, reduction="sum")


@tf.function
def accumulate(x, y):
    with tf.GradientTape() as tape:
        loss = huber(y, model(x, training=True)) / (MICRO * ACCUM)
    for s, g in zip(store, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g)
    return loss


@tf.function
def update():
    grads = [tf.convert_to_tensor(s) for s in store]
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    for s in store:
        s.assign(tf.zeros_like(s))
    return norm


ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000).batch(MICRO, drop_remainder=True).repeat()
total = 0.0
for i, (x, y) in enumerate(ds.take(400 * ACCUM), 1):
    total += float(accumulate(x, y))
    if i % ACCUM == 0:
        norm = update()
        if i % (ACCUM * 50) == 0:
            mae = np.abs(model(x_test).numpy() - y_test).mean()
            print(f"update {i // ACCUM:4d} loss {total / 50:.4f} grad norm {float(norm):.2f} test MAE {mae:.3f}")
            total = 0.0
print("always the mean would give MAE", round(float(np.abs(y_test - y_train.mean()).mean()), 3))
