import numpy as np
import tensorflow as tf
import keras


def load_flats(n, seed):
    r = np.random.default_rng(seed)
    area = r.gamma(9, 8, n)
    rooms = np.clip(np.round(area / 25 + r.normal(0, 0.6, n)), 1, 6)
    floor = r.integers(0, 9, n)
    lift = r.random(n) < 0.5
    km = r.exponential(4, n)
    age = r.uniform(0, 100, n)
    rent = 250 + 9.5 * area + 40 * rooms + np.where(lift, 12, -15) * floor - 420 * np.log1p(km) / 2 - 2 * age
    rent = rent + r.normal(0, 45, n)
    x = np.stack([area, rooms, floor, lift, km, age], 1).astype("float32")
    return x, rent.astype("float32")


def standardise(x, mean, std):
    return (x - mean) / std


def rent_model(width=64):
    inp = keras.Input((6,))
    h = keras.layers.Dense(width, activation="swish")(inp)
    h = keras.layers.Dense(width, activation="swish")(h)
    out = keras.layers.Dense(1)(h)
    return keras.Model(inp, out)


def main():
    keras.utils.set_random_seed(77)
    x, rent = load_flats(5000, 1)
    xt, rent_t = load_flats(1000, 2)
    mx, sx = x.mean(0), x.std(0)
    my, sy = rent.mean(), rent.std()
    ds = (tf.data.Dataset.from_tensor_slices((standardise(x, mx, sx), (rent - my) / sy))
          .shuffle(5000).batch(50))
    net = rent_model()
    opt = keras.optimizers.AdamW(learning_rate=2e-3, weight_decay=1e-4)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            pred = tf.squeeze(net(xb, training=True), -1)
            err = pred - yb
            loss = tf.reduce_mean(tf.where(tf.abs(err) < 1.0, 0.5 * err ** 2, tf.abs(err) - 0.5))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    for epoch in range(15):
        loss = np.mean([float(step(a, b)) for a, b in ds])
        pred = net(standardise(xt, mx, sx)).numpy()[:, 0] * sy + my
        print(f"{epoch:2d} loss {loss:.4f}  test MAE {np.abs(pred - rent_t).mean():7.1f} EUR")

    print("MAE of the mean rent %.1f EUR" % np.abs(rent_t - my).mean())
    for i in range(5):
        print(f"  flat {i}: asked {rent_t[i]:.0f}, estimated {pred[i]:.0f}")


if __name__ == "__main__":
    main()
