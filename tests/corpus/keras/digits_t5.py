"""Spell sorted digits: a small T5 with a warm-up and inverse square root rate."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from transformers import T5Config, TFT5ForConditionalGeneration

PAD, EOS, OFF = 0, 1, 2
LEN = 7


class Noam(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup):
        self.peak, self.warmup = peak, float(warmup)

    def __call__(self, step):
        s = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(s / self.warmup, tf.sqrt(self.warmup / s))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup}


def examples(n, rng):
    src = np.full((n, LEN), PAD, np.int32)
    tgt = np.full((n, LEN), -100, np.int32)
    for i in range(n):
        m = rng.integers(3, LEN)
        d = rng.integers(0, 10, m)
        src[i, :m], src[i, m] = d + OFF, EOS
        tgt[i, :m], tgt[i, m] = np.sort(d) + OFF, EOS
    return src, tgt


tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
src, tgt = examples(6000, rng)
src_t, tgt_t = examples(300, rng)
model = TFT5ForConditionalGeneration(T5Config(
    vocab_size=12, d_model=64, d_kv=16, num_heads=4, d_ff=128, num_layers=2, num_decoder_layers=2,
    dropout_rate=0.0, decoder_start_token_id=PAD, pad_token_id=PAD, eos_token_id=EOS,
    relative_attention_num_buckets=8, relative_attention_max_distance=16))
opt = tf.keras.optimizers.Adam(Noam(4e-3, 60))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        out = model(input_ids=x, attention_mask=tf.cast(x != PAD, tf.int32), labels=y, training=True)
        loss = tf.reduce_mean(out.loss)
    g, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((src, tgt)).shuffle(6000, seed=19).batch(64, drop_remainder=True)
for epoch in range(7):
    print(f"epoch {epoch} loss {np.mean([float(step(x, y)) for x, y in ds]):.4f}")

out = model(input_ids=src_t, attention_mask=(src_t != PAD).astype(np.int32), labels=tgt_t, training=False)
pred = tf.argmax(out.logits, -1).numpy()
keep = tgt_t != -100
print(f"token accuracy (teacher forced) {np.mean(pred[keep] == tgt_t[keep]):.3f}")
print(f"whole sequences {np.mean(np.all((pred == tgt_t) | ~keep, axis=1)):.3f}")
