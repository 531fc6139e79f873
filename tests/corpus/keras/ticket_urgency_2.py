import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(4); np.random.seed(4); tf.random.set_seed(4)

THINGS = "printer server laptop router screen keyboard login database backup phone mail badge".split()
CALM = "please update the %s when convenient|could you order a new %s|how do i set up the %s|the %s works again thanks|question about the %s policy".split("|")
HOT = "the %s is down for everyone|smoke is coming from the %s|all users lost access to the %s|urgent outage of %s in production|we lose money because the %s stopped".split("|")
FILL = "hello team regards today office again also just really since morning".split()


def ticket(hot):
    words = (random.choice(HOT if hot else CALM) % random.choice(THINGS)).split()
    for _ in range(random.randint(0, 4)):
        words.insert(random.choice([0, len(words)]), random.choice(FILL + ["#%d" % random.randint(100, 999)]))
    return words


def make(n, share=0.06):
    y = [int(random.random() < share) for _ in range(n)]
    return [ticket(k) for k in y], np.array(y, "int32")


train_w, train_y = make(2400)
val_w, val_y = make(800)
vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
for w in train_w:
    for t in w:
        if not t.startswith("#"):            # ticket numbers stay unknown
            vocab.setdefault(t, len(vocab))
L = 20


def encode(rows):
    ids = np.zeros((len(rows), L), "int32")
    for i, r in enumerate(rows):
        e = [2] + [vocab.get(t, 1) for t in r][:L - 1]
        ids[i, :len(e)] = e
    return ids, (ids > 0).astype("int32")


tr_ids, tr_mask = encode(train_w)
va_ids, va_mask = encode(val_w)
print("share of unknown tokens", float((tr_ids == 1).sum() / tr_mask.sum()), "positives", train_y.mean())

cfg = DistilBertConfig(vocab_size=len(vocab), max_position_embeddings=L, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
                       dropout=0.1, attention_dropout=0.1, seq_classif_dropout=0.1, num_labels=2)
model = TFDistilBertForSequenceClassification(cfg)
model({"input_ids": tr_ids[:2], "attention_mask": tr_mask[:2]})
model.distilbert.embeddings.trainable = False   # random, fixed token table: enough for 70 words
print("trainable tensors", len(model.trainable_variables), "of", len(model.variables))

MICRO, ACCUM, EPOCHS = 16, 4, 5
class_w = tf.constant([1.0, float((1 - train_y.mean()) / train_y.mean()) ** 0.5])
steps = EPOCHS * len(train_y) // (MICRO * ACCUM)


class Warm(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, s):
        s = tf.cast(s, tf.float32)
        return 3e-3 * tf.minimum((s + 1) / 15.0, tf.maximum(0.02, (steps - s) / (steps - 15.0)))


opt = tf.keras.optimizers.Adam(Warm())
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


@tf.function
def micro(ids, mask, y):
    with tf.GradientTape() as tape:
        logits = model({"input_ids": ids, "attention_mask": mask}, training=True).logits
        loss = tf.reduce_mean(ce(y, logits) * tf.gather(class_w, y)) / ACCUM
    return loss, tape.gradient(loss, model.trainable_variables)


@tf.function
def score(ids, mask):
    return tf.nn.softmax(model({"input_ids": ids, "attention_mask": mask}, training=False).logits)[:, 1]


best, keep = -1.0, None
for ep in range(EPOCHS):
    order = np.random.permutation(len(train_y))
    bank, seen, tot = None, 0, 0.0
    for k in range(0, len(order) // MICRO * MICRO, MICRO):
        b = order[k:k + MICRO]
        loss, g = micro(tf.constant(tr_ids[b]), tf.constant(tr_mask[b]), tf.constant(train_y[b]))
        bank = g if bank is None else [a + c for a, c in zip(bank, g)]
        seen += 1
        tot += float(loss)
        if seen % ACCUM == 0:
            bank, _ = tf.clip_by_global_norm(bank, 1.0)
            opt.apply_gradients(zip(bank, model.trainable_variables))
            bank = None
    p = score(tf.constant(va_ids), tf.constant(va_mask)).numpy() > 0.5
    tp = int((p & (val_y == 1)).sum())
    f1 = 2 * tp / max(1, int(p.sum()) + int(val_y.sum()))
    print(f"epoch {ep} loss {tot * ACCUM / seen:.4f} F1 of the rare class {f1:.3f}")
    if f1 > best:
        best, keep = f1, model.get_weights()
model.set_weights(keep)
print("kept F1", best)
