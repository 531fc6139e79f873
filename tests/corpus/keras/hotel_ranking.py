"""Learning to rank hotels: one query per step, softmax over its candidate list."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_CITIES, N_BRANDS = 30, 50
STYLE = np.random.default_rng(0).normal(size=(N_CITIES, 4))
BRAND = np.random.default_rng(1).normal(size=(N_BRANDS, 4))


def make_query(rng):
    n = int(rng.integers(4, 13))
    city = int(rng.integers(N_CITIES))
    brand = rng.integers(0, N_BRANDS, n)
    dense = rng.normal(size=(n, 3)).astype("float32")
    utility = 0.8 * BRAND[brand] @ STYLE[city] + 1.2 * dense[:, 0] - 0.8 * np.abs(dense[:, 1])
    clicked = int(np.argmax(utility + rng.gumbel(size=n)))
    return np.full(n, city, "int32"), brand.astype("int32"), dense, clicked


def query_stream(n, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield make_query(rng)


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.city = layers.Embedding(N_CITIES, 8)
        self.brand = layers.Embedding(N_BRANDS, 8)
        self.mlp = keras.Sequential([
            layers.Dense(32, activation="relu"),
            layers.Dense(1, use_bias=False),
        ])

    def call(self, city, brand, dense):
        c, b = self.city(city), self.brand(brand)
        return self.mlp(tf.concat([c * b, b, dense], axis=1))[:, 0]


def main():
    keras.utils.set_random_seed(44)
    model = Ranker()
    city, brand, dense, _ = make_query(np.random.default_rng(5))
    model(city, brand, dense)

    tables = model.city.trainable_variables + model.brand.trainable_variables
    dense_vars = model.mlp.trainable_variables
    opt_tables = keras.optimizers.Adagrad(0.1)
    opt_dense = keras.optimizers.Adam(1e-3)

    signature = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32),
                 tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=signature)
    def step(city, brand, dense, clicked):
        with tf.GradientTape() as tape:
            scores = model(city, brand, dense)
            loss = -tf.nn.log_softmax(scores)[clicked]
        g_tables, g_dense = tape.gradient(loss, [tables, dense_vars])
        opt_tables.apply_gradients(zip(g_tables, tables))
        opt_dense.apply_gradients(zip(g_dense, dense_vars))
        return loss

    ds = tf.data.Dataset.from_generator(lambda: query_stream(6000, 10),
                                        output_signature=tuple(signature))
    window = []
    for i, batch in enumerate(ds, 1):
        window.append(float(step(*batch)))
        if i % 1000 == 0:
            print(f"query {i}: loss {np.mean(window):.4f}")
            window.clear()

    rank, chance = [], []
    for city, brand, dense, clicked in query_stream(600, 11):
        s = model(city, brand, dense).numpy()
        rank.append(1 + int((s > s[clicked]).sum()))
        chance.append(np.mean(1.0 / np.arange(1, len(s) + 1)))
    rank = np.array(rank)
    print(f"MRR {np.mean(1 / rank):.4f} (random order {np.mean(chance):.4f})  hit@1 {np.mean(rank == 1):.4f}")


if __name__ == "__main__":
    main()
