"""Character model of knitting patterns. Micro-batches of 16 rows, one update per 8 of them."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(40)
tf.random.set_seed(40)

MICRO, ACCUM, EPOCHS, SEQ = 16, 8, 10, 48
LR, MOMENTUM = 1.0, 0.9


def pattern_row():
    n = rng.integers(2, 10)
    stitch = rng.choice(["k", "p", "sl"])
    other = {"k": "p", "p": "k", "sl": "yo"}[stitch]
    return f"row: *{stitch}{n} {other}{10 - n}* rep to end; turn. "


text = "".join(pattern_row() for _ in range(3600))
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
ids = np.array([index[c] for c in text], dtype="int32")
rows = ids[: (len(ids) - 1) // SEQ * SEQ].reshape(-1, SEQ)
nxt = ids[1 : rows.size + 1].reshape(-1, SEQ)
cut = int(len(rows) * 0.9) // (MICRO * ACCUM) * (MICRO * ACCUM)

train = (
    tf.data.Dataset.from_tensor_slices((rows[:cut], nxt[:cut]))
    .shuffle(cut)
    .batch(MICRO, drop_remainder=True)
)
val_x, val_y = rows[cut:], nxt[cut:]

net = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(len(chars), 24),
        tf.keras.layers.GRU(96, return_sequences=True),
        tf.keras.layers.Dense(len(chars)),
    ]
)
net.build((None, SEQ))
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(LR, momentum=MOMENTUM)
bank = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x, training=True))
    for slot, g in zip(bank, tape.gradient(loss, net.trainable_variables)):
        slot.assign_add(tf.convert_to_tensor(g))
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip(bank, net.trainable_variables))
    for slot in bank:
        slot.assign(tf.zeros_like(slot))


def generate(seed="row: *", n=60):
    out = [index[c] for c in seed]
    for _ in range(n):
        window = np.array([out[-SEQ:]])
        out.append(int(np.argmax(net(window)[0, -1])))
    return "".join(chars[i] for i in out)


print(len(chars), "symbols,", cut, "rows,", len(train), "micro-batches an epoch")
for epoch in range(EPOCHS):
    seen = []
    for i, (x, y) in enumerate(train):
        seen.append(float(micro_step(x, y)))
        if (i + 1) % ACCUM == 0:
            update()
    val = float(loss_fn(val_y, net(val_x, training=False)))
    print(f"epoch {epoch + 1:2d}  train {np.mean(seen):.4f}  val {val:.4f}")
print(generate())
