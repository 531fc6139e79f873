import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_ATTR, N_VAL = 6, 6


def build_catalogue(n, proj, rng, noise):
    attrs = rng.integers(0, N_VAL, size=(n, N_ATTR))
    onehot = np.eye(N_VAL)[attrs].reshape(n, -1)
    photo = np.tanh(onehot @ proj) + noise * rng.normal(size=(n, proj.shape[1]))
    tokens = attrs + N_VAL * np.arange(N_ATTR)
    tokens = rng.permuted(tokens, axis=1)
    return photo.astype("float32"), tokens.astype("int32")


class PhotoTower(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.net = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(dim)])

    def call(self, x):
        return tf.math.l2_normalize(self.net(x), axis=-1)


class CaptionTower(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.emb = layers.Embedding(N_ATTR * N_VAL, 64)
        self.out = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(dim)])

    def call(self, ids):
        return tf.math.l2_normalize(self.out(tf.reduce_mean(self.emb(ids), axis=1)), axis=-1)


class Matcher(keras.Model):
    def __init__(self, dim=32):
        super().__init__()
        self.photo = PhotoTower(dim)
        self.caption = CaptionTower(dim)
        self.log_scale = self.add_weight(shape=(), initializer="zeros", trainable=True, name="log_scale")

    def call(self, batch):
        p, c = self.photo(batch[0]), self.caption(batch[1])
        scale = tf.exp(tf.minimum(self.log_scale, 4.6))
        return scale * tf.matmul(p, c, transpose_b=True)


def contrastive(logits):
    labels = tf.range(tf.shape(logits)[0])
    a = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    b = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.transpose(logits))
    return tf.reduce_mean(a + b) / 2


def recall_at(model, photo, tokens, ks=(1, 5)):
    sims = tf.matmul(model.photo(photo), model.caption(tokens), transpose_b=True).numpy()
    rank = (sims > np.diag(sims)[:, None]).sum(axis=1)
    return [float((rank < k).mean()) for k in ks]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    proj = rng.normal(size=(N_ATTR * N_VAL, 48)) * 0.6
    photo, tokens = build_catalogue(6000, proj, rng, 0.65)
    photo_te, tokens_te = build_catalogue(1000, proj, rng, 0.65)

    model = Matcher()
    model((photo[:2], tokens[:2]))
    opt = keras.optimizers.Adam(args.lr)

    @tf.function
    def step(p, t):
        with tf.GradientTape() as tape:
            loss = contrastive(model((p, t)))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((photo, tokens)).shuffle(6000, seed=2).batch(args.batch, drop_remainder=True)
    for epoch in range(args.epochs):
        losses = [float(step(p, t)) for p, t in ds]
        if epoch % 4 == 3:
            r1, r5 = recall_at(model, photo_te, tokens_te)
            print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.3f}  R@1 {r1:.3f}  R@5 {r5:.3f}")


if __name__ == "__main__":
    main()
