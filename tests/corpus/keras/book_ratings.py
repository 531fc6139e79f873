import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

READERS, BOOKS, RANK = 300, 200, 6
MICRO, PER_UPDATE, EPOCHS = 64, 4, 30


def ratings(n=24000, seed=6):
    g = np.random.default_rng(seed)
    u, b = g.normal(size=(READERS, RANK)), g.normal(size=(BOOKS, RANK))
    bias_u, bias_b = g.normal(0, 0.4, READERS), g.normal(0, 0.6, BOOKS)
    i, j = g.integers(0, READERS, n), g.integers(0, BOOKS, n)
    s = 3.2 + bias_u[i] + bias_b[j] + 0.45 * (u[i] * b[j]).sum(1) + g.normal(0, 0.2, n)
    return i.astype("int32"), j.astype("int32"), s.astype("float32")


class Rater(tf.Module):
    def __init__(self, dim=16):
        super().__init__()
        init = tf.random_normal_initializer(0, 0.3, seed=6)
        self.user = tf.Variable(init((READERS, dim)), name="user")
        self.book = tf.Variable(init((BOOKS, dim)), name="book")
        self.w1 = tf.Variable(tf.random.normal((3 * dim, 48), stddev=0.15, seed=1))
        self.b1 = tf.Variable(tf.zeros(48))
        self.w2 = tf.Variable(tf.random.normal((48, 1), stddev=0.15, seed=2))
        self.b2 = tf.Variable([3.2])

    def tables(self):
        return [self.user, self.book]

    def tower(self):
        return [self.w1, self.b1, self.w2, self.b2]

    def __call__(self, i, j):
        u, b = tf.gather(self.user, i), tf.gather(self.book, j)
        h = tf.nn.relu(tf.concat([u, b, u * b], 1) @ self.w1 + self.b1)
        return (h @ self.w2)[:, 0] + self.b2 + tf.reduce_sum(u * b, 1)


tf.random.set_seed(6)
net = Rater()
table_opt = tf.keras.optimizers.SGD(2.0)
tower_opt = tf.keras.optimizers.Adam(2e-3)
table_opt.build(net.tables())
tower_opt.build(net.tower())
table_sum = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.tables()]
tower_sum = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.tower()]


@tf.function
def gather_grads(i, j, s):
    both = net.tables() + net.tower()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(i, j) - s))
    for total, g in zip(table_sum + tower_sum, tape.gradient(loss, both)):
        total.assign_add(tf.convert_to_tensor(g) / PER_UPDATE)
    return loss


@tf.function
def apply_sums():
    table_opt.apply_gradients(zip(table_sum, net.tables()))
    tower_opt.apply_gradients(zip(tower_sum, net.tower()))
    for total in table_sum:
        total.assign(tf.zeros_like(total))


i, j, s = ratings()
cut = 20480
held = (i[cut:], j[cut:], s[cut:])
order = np.random.default_rng(0)
for epoch in range(EPOCHS):
    perm = order.permutation(cut)
    running = []
    for k in range(0, cut, MICRO):
        sel = perm[k:k + MICRO]
        running.append(float(gather_grads(i[sel], j[sel], s[sel])))
        if (k // MICRO + 1) % PER_UPDATE == 0:
            apply_sums()
    rmse = np.sqrt(np.mean((net(held[0], held[1]).numpy() - held[2]) ** 2))
    print(f"epoch {epoch:2d}  train mse {np.mean(running):.4f}  held-out rmse {rmse:.4f}")
print("spread of held-out ratings %.4f" % held[2].std())
