"""Tiny ViT on 8x8 digits with mixup, label smoothing, a warm-up and an exponential average of the weights (TF, tf_keras)."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import ViTConfig, TFViTForImageClassification

tf_keras.utils.set_random_seed(10)
EPOCHS, BATCH, PEAK = 14, 64, 3e-3

d = load_digits()
x = (d.images / 8.0 - 1.0).astype("float32")[:, None]          # channels first, as the HF model wants it
x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, random_state=5, stratify=d.target)
hot = np.eye(10, dtype="float32")[y_tr]

config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=48, num_hidden_layers=2,
                   num_attention_heads=4, intermediate_size=96, num_labels=10,
                   hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = TFViTForImageClassification(config)
model(tf.constant(x_tr[:1]))

total = EPOCHS * (len(x_tr) // BATCH)


class WarmCosine(tf_keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, float(warm), float(total)

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        cos = 0.5 * (1 + tf.cos(np.pi * tf.clip_by_value((step - self.warm) / (self.total - self.warm), 0.0, 1.0)))
        return self.peak * tf.where(step < self.warm, (step + 1) / self.warm, cos)


opt = tf_keras.optimizers.AdamW(WarmCosine(PEAK, 40, total), weight_decay=0.02, global_clipnorm=1.0)
ema = [tf.Variable(w, trainable=False) for w in model.trainable_variables]


@tf.function
def step(xa, ya, lam, perm, decay):
    mixed = lam * xa + (1.0 - lam) * tf.gather(xa, perm)
    target = lam * ya + (1.0 - lam) * tf.gather(ya, perm)
    target = 0.95 * target + 0.05 / 10.0
    with tf.GradientTape() as tape:
        logits = model(mixed, training=True).logits
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    pairs = [(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]
    opt.apply_gradients(pairs)
    for e, v in zip(ema, model.trainable_variables):
        e.assign(decay * e + (1.0 - decay) * v)
    return loss


def accuracy(images, labels):
    return float((model(tf.constant(images), training=False).logits.numpy().argmax(1) == labels).mean())


rng = np.random.default_rng(0)
count = 0
for epoch in range(EPOCHS):
    order = rng.permutation(len(x_tr))
    losses = []
    for k in range(len(x_tr) // BATCH):
        b = order[k * BATCH:(k + 1) * BATCH]
        lam = np.float32(rng.beta(0.4, 0.4))
        decay = np.float32(min(0.98, (1 + count) / (10 + count)))
        losses.append(float(step(tf.constant(x_tr[b]), tf.constant(hot[b]), tf.constant(lam),
                                 tf.constant(rng.permutation(BATCH)), tf.constant(decay))))
        count += 1
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1:2d} mixed loss {np.mean(losses):.3f} clean train acc {accuracy(x_tr, y_tr):.3f}")

raw = accuracy(x_te, y_te)
for e, v in zip(ema, model.trainable_variables):
    v.assign(e)
print(f"test accuracy {raw:.3f}, averaged weights {accuracy(x_te, y_te):.3f} (chance 0.100)")
