"""Region of each courier depot from the parcel graph. Three graph convolutions in plain TensorFlow."""
import numpy as np
import tensorflow as tf

SEED = 8
rng = np.random.default_rng(SEED)
tf.random.set_seed(SEED)

N, REGIONS, FEATS, HIDDEN = 700, 5, 16, 24


def parcel_graph():
    region = rng.integers(0, REGIONS, N)
    activity = rng.pareto(1.3, N) + 0.5
    activity = np.minimum(activity, 60)
    same = region[:, None] == region[None, :]
    rate = np.outer(activity, activity) * np.where(same, 0.02, 0.0025)
    upper = np.triu(rng.random((N, N)) < np.minimum(rate, 0.9), 1)
    adj = (upper | upper.T).astype("float32")
    centres = rng.normal(0, 1.0, (REGIONS, FEATS))
    feats = centres[region] + rng.normal(0, 2.2, (N, FEATS))
    return adj, feats.astype("float32"), region.astype("int32")


adj, feats, region = parcel_graph()
deg = adj.sum(1)
print("depots", N, "links", int(adj.sum() / 2), "degree median/max", np.median(deg), deg.max())

adj = adj + np.eye(N, dtype="float32")
inv = 1.0 / np.sqrt(adj.sum(1))
support = tf.constant(inv[:, None] * adj * inv[None, :])
x = tf.constant(feats)
y = tf.constant(region)

order = rng.permutation(N)
train_idx, test_idx = order[:140], order[140:]


class GraphConv(tf.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        lim = float(np.sqrt(6.0 / (n_in + n_out)))
        self.w = tf.Variable(tf.random.uniform((n_in, n_out), -lim, lim))
        self.b = tf.Variable(tf.zeros(n_out))

    def __call__(self, a, h):
        return a @ (h @ self.w) + self.b


class DepotNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [GraphConv(FEATS, HIDDEN), GraphConv(HIDDEN, HIDDEN), GraphConv(HIDDEN, REGIONS)]

    def __call__(self, a, h, drop=0.0):
        for i, conv in enumerate(self.layers):
            if drop:
                h = tf.nn.dropout(h, drop)
            h = conv(a, h)
            if i < len(self.layers) - 1:
                h = tf.nn.relu(h)
        return h


net = DepotNet()
opt = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = tf.gather(net(support, x, drop=0.3), train_idx)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.gather(y, train_idx), logits)
        loss = tf.reduce_mean(ce)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def accuracy(idx):
    pred = tf.argmax(net(support, x), 1).numpy()
    return (pred[idx] == region[idx]).mean()


for epoch in range(1, 201):
    loss = train_step()
    if epoch % 25 == 0:
        print(f"{epoch:4d} loss {float(loss):9.3f} train {accuracy(train_idx):.3f} test {accuracy(test_idx):.3f}")
