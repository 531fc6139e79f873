import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

tf_keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

TAGS = {
    "spicy": "chili cayenne jalapeno sambal".split(),
    "vegan": "tofu lentils chickpeas tempeh".split(),
    "sweet": "sugar honey syrup caramel".split(),
    "quick": "microwave instant minutes toast".split(),
    "baked": "oven flour yeast dough".split(),
}
COMMON = "the a with salt pepper water bowl mix stir add serve plate then pan heat slowly fresh".split()
names = list(TAGS)
words = ["[PAD]", "[CLS]"] + COMMON + [w for ws in TAGS.values() for w in ws]
vocab = {w: i for i, w in enumerate(words)}
MAX = 24


def recipe():
    y = (rng.random(len(names)) < 0.45).astype("float32")
    text = list(rng.choice(COMMON, size=rng.integers(8, 14)))
    for flag, name in zip(y, names):
        if flag:
            text.insert(rng.integers(len(text) + 1), str(rng.choice(TAGS[name])))
    return text, y


def encode(n):
    ids = np.zeros((n, MAX), "int32")
    labels = np.zeros((n, len(names)), "float32")
    for i in range(n):
        t, labels[i] = recipe()
        row = [vocab["[CLS]"]] + [vocab[w] for w in t]
        ids[i, :len(row)] = row[:MAX]
    return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}, labels


x_train, y_train = encode(2500)
x_test, y_test = encode(500)

config = DistilBertConfig(vocab_size=len(words), dim=48, n_layers=1, n_heads=4, hidden_dim=96,
                          max_position_embeddings=MAX, num_labels=len(names), seq_classif_dropout=0.0,
                          initializer_range=0.1)
model = TFDistilBertForSequenceClassification(config)
opt = tf_keras.optimizers.Adam(2e-3)


@tf.function
def train_batch(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True).logits
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


def report(x, y):
    scores = tf.nn.sigmoid(model(x).logits).numpy()
    pred = scores > 0.5
    tp = (pred * y).sum()
    f1 = 2 * tp / max(pred.sum() + y.sum(), 1)
    exact = np.mean((pred == y).all(1))
    return f1, exact


data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2500, seed=0).batch(50)
for epoch in range(8):
    losses = [float(train_batch(x, y)) for x, y in data]
    f1, exact = report(x_test, y_test)
    print(f"epoch {epoch} loss {np.mean(losses):.4f} micro-f1 {f1:.3f} exact match {exact:.3f}")
