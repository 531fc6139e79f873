"""Bracket depth: a GRU in bfloat16 mixed precision, trained with Lion on sequences that get longer."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(41)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
rng = np.random.default_rng(41)

OPEN, CLOSE, WORD = 1, 2, 3
MAX_DEPTH = 4
STAGES = [(5, 70), (8, 105), (12, 105), (16, 140)]       # (length, number of updates)
BATCH = 64


def strings(n, length):
    """Random bracket strings; the label is the depth after the last symbol."""
    x = np.zeros((n, length), dtype="int32")
    y = np.zeros(n, dtype="int32")
    for i in range(n):
        depth = 0
        for t in range(length):
            choice = rng.choice([OPEN, CLOSE, WORD], p=[0.45, 0.35, 0.2])
            if choice == OPEN and depth == MAX_DEPTH:
                choice = WORD
            if choice == CLOSE and depth == 0:
                choice = WORD
            depth += int(choice == OPEN) - int(choice == CLOSE)
            x[i, t] = choice
        y[i] = depth
    return x, y


def build():
    ids = keras.Input((None,), dtype="int32")
    h = layers.Embedding(4, 16)(ids)
    h = layers.GRU(48)(h)
    # logits in full precision, the rest computes in bfloat16
    out = layers.Dense(MAX_DEPTH + 1, dtype="float32")(h)
    return keras.Model(ids, out)


model = build()
total = sum(n for _, n in STAGES)
warm = keras.optimizers.schedules.CosineDecay(
    1e-4, decay_steps=total - 20, warmup_target=2e-3, warmup_steps=20, alpha=0.02)
optimizer = keras.optimizers.Lion(warm, beta_1=0.9, beta_2=0.98, weight_decay=0.01)
optimizer.exclude_from_weight_decay(var_names=["bias"])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(reduce_retracing=True)
def update(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x_test, y_test = strings(600, 16)
x_short, y_short = strings(300, 8)
step = 0
pools = []
for stage, (length, updates) in enumerate(STAGES, 1):
    pools.append(strings(2500, length))
    recent = []
    for _ in range(updates):
        # a third of the updates goes back to the shorter strings
        old = stage > 1 and rng.random() < 0.35
        pool_x, pool_y = pools[rng.integers(0, stage - 1)] if old else pools[-1]
        pick = rng.integers(0, len(pool_x), BATCH)
        recent.append(float(update(tf.constant(pool_x[pick]), tf.constant(pool_y[pick]))))
        step += 1
        if step % 35 == 0:
            print(f"stage {stage} (length {length}) step {step} loss {np.mean(recent[-35:]):.4f}")
    acc = np.mean(model.predict(x_test, batch_size=300, verbose=0).argmax(1) == y_test)
    print(f"  after stage {stage}: accuracy on length 16 {acc:.4f}")

print("variable dtype", model.trainable_variables[0].dtype, "| compute dtype", model.layers[2].compute_dtype)
short = np.mean(model.predict(x_short, batch_size=300, verbose=0).argmax(1) == y_short)
majority = np.bincount(y_test).max() / len(y_test)
print(f"test accuracy length 16: {acc:.4f}, length 8: {short:.4f}  (majority {majority:.4f})")
