"""Tag gene names in toy abstracts with a small BERT. Names are rare, so their tokens weigh more;
position embeddings stay as they were drawn."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

tf_keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)

PLAIN = "we show that expression of in cells was increased by treatment with and loss the study found high low".split()
CUES = ["gene", "locus"]
SYMBOLS = [f"{a}{b}{n}" for a in "abk" for b in "rt" for n in range(1, 6)]
vocab = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + PLAIN + CUES + SYMBOLS)}
LENGTH, IGNORE = 28, -100


def sentence():
    ids, tags = [vocab["[CLS]"]], [IGNORE]
    for _ in range(rng.integers(12, 24)):
        ids.append(vocab[rng.choice(PLAIN)])
        tags.append(0)
    for _ in range(rng.integers(0, 3)):
        at = int(rng.integers(1, len(ids)))
        sym = vocab[rng.choice(SYMBOLS)]
        if rng.random() < 0.5:      # "gene abX": a name; alone it is only a sample label
            ids[at:at] = [vocab[rng.choice(CUES)], sym]
            tags[at:at] = [0, 1]
        else:
            ids[at:at] = [sym]
            tags[at:at] = [0]
    ids, tags = ids[:LENGTH], tags[:LENGTH]
    pad = LENGTH - len(ids)
    return ids + [0] * pad, tags + [IGNORE] * pad


def corpus(n):
    a, b = zip(*(sentence() for _ in range(n)))
    return np.array(a, "int32"), np.array(b, "int32")


x, y = corpus(3000)
xv, yv = corpus(500)
model = TFBertForTokenClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=LENGTH, num_labels=2, initializer_range=0.1, hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0))
model(x[:2])
params = [v for v in model.trainable_variables if "position_embeddings" not in v.name]
print("updated tensors", len(params), "of", len(model.trainable_variables))
opt = tf_keras.optimizers.Adam(tf_keras.optimizers.schedules.PolynomialDecay(3e-3, 720, 1e-4))


@tf.function
def step(ids, tags):
    weight = tf.where(tags == 1, 8.0, 1.0) * tf.cast(tags != IGNORE, tf.float32)
    with tf.GradientTape() as tape:
        logits = model(ids, attention_mask=tf.cast(ids != 0, tf.int32), training=True).logits
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(tags, 0), logits=logits)
        loss = tf.reduce_sum(ce * weight) / tf.reduce_sum(weight)
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


for epoch in range(12):
    order = rng.permutation(len(x))
    losses = [float(step(x[order[i:i + 50]], y[order[i:i + 50]])) for i in range(0, len(x), 50)]
    pred = model(xv, attention_mask=(xv != 0).astype("int32")).logits.numpy().argmax(-1)
    tp = ((pred == 1) & (yv == 1)).sum()
    fp = ((pred == 1) & (yv == 0)).sum()
    fn = ((pred == 0) & (yv == 1)).sum()
    print(f"epoch {epoch} loss {np.mean(losses):.4f} precision {tp / max(tp + fp, 1):.3f} recall {tp / (tp + fn):.3f}")
