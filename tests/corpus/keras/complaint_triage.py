import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(4)
np.random.seed(4)
tf.random.set_seed(4)

TOPICS = {
    "billing": "invoice charge refund payment card double fee price statement euro".split(),
    "delivery": "parcel courier late address door tracking lost box depot van".split(),
    "quality": "cracked scratch faulty stain smell loose torn dent rust leak".split(),
}
FILLER = [f"{a}{b}" for a in "ka mo ti ru se lo pa ne vi do".split() for b in "lan mer tok sil bur fen gar hol".split()]
VOCAB = ["[PAD]", "[CLS]"] + FILLER + [w for ws in TOPICS.values() for w in ws]
IDX = {w: i for i, w in enumerate(VOCAB)}
MAXLEN = 20


def letter(topic):
    words = random.choices(FILLER, k=random.randint(7, 11))
    words += random.choices(list(TOPICS.values())[topic], k=random.randint(4, 6))
    random.shuffle(words)
    return "[CLS] " + " ".join(words)


def dataset(n, sloppy=0.0):
    ids = np.zeros((n, MAXLEN), "int32")
    y = np.zeros(n, "int32")
    for i in range(n):
        t = random.randrange(3)
        toks = [IDX[w] for w in letter(t).split()][:MAXLEN]
        ids[i, : len(toks)] = toks
        # clerks pick the category from a drop-down list and now and then misclick
        y[i] = random.randrange(3) if random.random() < sloppy else t
    return ids, (ids > 0).astype("int32"), y


train = dataset(480, sloppy=0.55)
valid = dataset(400)
test = dataset(1000)

config = DistilBertConfig(vocab_size=len(VOCAB), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=MAXLEN, num_labels=3, dropout=0.0,
                          attention_dropout=0.0, seq_classif_dropout=0.0)
model = TFDistilBertForSequenceClassification(config)
opt = tf.keras.optimizers.Adam(1.5e-3)
xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(ids, mask, y):
    with tf.GradientTape() as tape:
        logits = model(input_ids=ids, attention_mask=mask, training=True).logits
        loss = xent(y, logits)
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


@tf.function
def infer(ids, mask):
    return tf.argmax(model(input_ids=ids, attention_mask=mask, training=False).logits, -1)


def accuracy(data):
    return float(np.mean(infer(data[0], data[1]).numpy() == data[2]))


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(480, seed=1).batch(24)
best_acc, best_weights, best_epoch = -1.0, None, None
for epoch in range(45):
    losses = [float(step(*b)) for b in ds]
    acc = accuracy(valid)
    print(f"epoch {epoch:2d}  train loss {np.mean(losses):.3f}  valid acc {acc:.3f}")
    if acc > best_acc:
        best_acc, best_epoch = acc, epoch
        best_weights = model.weights

for var, value in zip(model.weights, best_weights):
    var.assign(value)
print(f"restored epoch {best_epoch} (valid {best_acc:.3f})")
print(f"valid now {accuracy(valid):.3f}   test {accuracy(test):.3f}")
