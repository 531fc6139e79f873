# %% [markdown]
# Transfer: a stem trained on printed glyphs, carried over to handwritten-looking ones.

# %%
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(21)
N_GLYPH, S = 10, 20
shape_rng = np.random.default_rng(4)
PROTO = (shape_rng.uniform(size=(2 * N_GLYPH, 5, 5)) > 0.5).astype("float32")


# %%
def render(n, which, seed, hand):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, N_GLYPH, n)
    imgs = np.zeros((n, S, S, 1), "float32")
    for i, k in enumerate(y):
        g = np.kron(PROTO[which + k], np.ones((3, 3)))
        r, c = rng.integers(0, S - 15 + 1, 2)
        canvas = np.zeros((S, S))
        canvas[r:r + 15, c:c + 15] = g
        if hand:
            shift = np.round(1.5 * np.sin(np.arange(S) * 0.5 + rng.uniform(0, 6))).astype(int)
            canvas = np.stack([np.roll(row, s) for row, s in zip(canvas, shift)])
            canvas = 1.0 - canvas
        imgs[i, ..., 0] = canvas + rng.normal(0, 0.25, (S, S))
    return imgs, y


# %% stem
stem = keras.Sequential([
    keras.Input((S, S, 1)),
    layers.Conv2D(16, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(24, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(32, activation="relu"),
], name="stem")

printed_x, printed_y = render(2500, 0, 1, hand=False)
printed = keras.Sequential([stem, layers.Dense(N_GLYPH)])
printed.compile(keras.optimizers.Adam(2e-3),
                keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
printed.fit(printed_x, printed_y, epochs=5, batch_size=64, verbose=2)

# %% new head, stem held still at first
hand_x, hand_y = render(2500, N_GLYPH, 2, hand=True)
test_x, test_y = render(800, N_GLYPH, 3, hand=True)

stem.trainable = False
inp = keras.Input((S, S, 1))
out = layers.Dense(N_GLYPH, name="head")(stem(inp))
model = keras.Model(inp, out)


def compile_model(lr):
    model.compile(keras.optimizers.Adam(lr),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])


compile_model(2e-3)
model.fit(hand_x, hand_y, validation_data=(test_x, test_y), epochs=4, batch_size=64, verbose=2)

# %% now let the whole network move
stem.trainable = True
model.optimizer.learning_rate = 1e-3
model.fit(hand_x, hand_y, validation_data=(test_x, test_y), epochs=10, batch_size=64, verbose=2)

# %%
loss, acc = model.evaluate(test_x, test_y, verbose=0)
print(f"handwritten glyphs: test loss {loss:.3f}, accuracy {acc:.3f}")
