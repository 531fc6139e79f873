import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

PAGES = ["<pad>", "home", "search", "list", "item", "reviews", "cart", "coupon", "checkout", "help", "logout"]
PAGE_ID = {p: i for i, p in enumerate(PAGES)}
MAX_CLICKS = 150


def simulate_session():
    n = rng.integers(4, 16)
    clicks = list(rng.integers(1, len(PAGES), n))
    if rng.random() < 0.5:
        clicks[rng.integers(0, n - 1)] = PAGE_ID["cart"]
        clicks[-1] = PAGE_ID["coupon"] if rng.random() < 0.5 else PAGE_ID["item"]
    cart_at = [i for i, c in enumerate(clicks) if c == PAGE_ID["cart"]]
    bought = int(bool(cart_at) and PAGE_ID["logout"] not in clicks[cart_at[0]:])
    return clicks, bought


sessions, bought = zip(*[simulate_session() for _ in range(4000)])
bought = np.array(bought, dtype="float32")
clicks = keras.utils.pad_sequences(sessions, maxlen=MAX_CLICKS, padding="post")

split = 3200
x_train, x_valid = clicks[:split], clicks[split:]
y_train, y_valid = bought[:split], bought[split:]
print("sessions:", clicks.shape, "purchase rate: %.3f" % bought.mean())

model = keras.Sequential([
    layers.Input((MAX_CLICKS,), dtype="int32"),
    layers.Embedding(len(PAGES), 16, mask_zero=True),
    layers.LSTM(24),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)
model.fit(x_train, y_train, validation_data=(x_valid, y_valid), batch_size=64, epochs=6, verbose=2)

loss, acc, auc = model.evaluate(x_valid, y_valid, verbose=0)
base = max(y_valid.mean(), 1 - y_valid.mean())
print(f"valid loss {loss:.4f}  accuracy {acc:.4f}  auc {auc:.4f}  majority {base:.4f}")
