"""Priority of support tickets with a tiny BERT built from a config; gradients are accumulated."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)

PAD, CLS, SEP, NOT = 0, 1, 2, 3
URGENT, CALM = np.arange(10, 20), np.arange(20, 30)
VOCAB, MAXLEN = 80, 16
MICRO, ACCUM, EPOCHS = 16, 4, 6


def ticket():
    """A ticket is urgent if it holds more urgent than calm words."""
    n = rng.integers(6, MAXLEN - 2)
    body = rng.integers(30, VOCAB, n)
    k = int(rng.choice([1, 3]))
    main = rng.integers(0, 2)
    spots = rng.permutation(n)[:k]
    body[spots] = rng.choice(URGENT if main else CALM, k)
    if k == 3:
        body[spots[0]] = rng.choice(CALM if main else URGENT)
    return np.concatenate([[CLS], body, [SEP]]), main


def make(n):
    ids = np.full((n, MAXLEN), PAD, dtype="int32")
    labels = np.zeros(n, dtype="int32")
    for i in range(n):
        toks, labels[i] = ticket()
        ids[i, :len(toks)] = toks
    return ids, (ids != PAD).astype("int32"), labels


train, test = make(2400), make(500)
config = BertConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=2,
                    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0)
model = TFBertForSequenceClassification(config)
model({"input_ids": train[0][:2], "attention_mask": train[1][:2]})
variables = model.trainable_variables
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

updates = EPOCHS * len(train[0]) // (MICRO * ACCUM)
schedule = tf.keras.optimizers.schedules.PolynomialDecay(3e-3, updates, 1e-4)
optimizer = tf.keras.optimizers.Adam(schedule)
optimizer.build(variables)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def micro_step(ids, mask, y):
    with tf.GradientTape() as tape:
        out = model({"input_ids": ids, "attention_mask": mask}, training=True)
        loss = ce(y, out.logits)
        share = loss / ACCUM
    for buf, g in zip(buffers, tape.gradient(share, variables)):
        buf.assign_add(tf.convert_to_tensor(g))
    return loss


@tf.function
def apply_buffers():
    grads, norm = tf.clip_by_global_norm([b.value() for b in buffers], 1.0)
    optimizer.apply_gradients(zip(grads, variables))
    for b in buffers:
        b.assign(tf.zeros_like(b))
    return norm


@tf.function
def logits_of(ids, mask):
    return model({"input_ids": ids, "attention_mask": mask}, training=False).logits


def evaluate():
    z = logits_of(tf.constant(test[0]), tf.constant(test[1])).numpy()
    return float(ce(test[2], z)), float(np.mean(z.argmax(1) == test[2]))


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(2400).batch(MICRO, drop_remainder=True)
count = 0
for epoch in range(1, EPOCHS + 1):
    losses, norms = [], []
    for ids, mask, y in ds:
        losses.append(float(micro_step(ids, mask, y)))
        count += 1
        if count % ACCUM == 0:
            norms.append(float(apply_buffers()))
    te_loss, te_acc = evaluate()
    print(f"epoch {epoch} loss {np.mean(losses):.4f} grad_norm {np.mean(norms):.3f} "
          f"test_loss {te_loss:.4f} test_acc {te_acc:.4f}")
prior = max(test[2].mean(), 1 - test[2].mean())
print(f"test accuracy {te_acc:.4f} (majority {prior:.4f})")
