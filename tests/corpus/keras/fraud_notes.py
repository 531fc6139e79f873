import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tf_keras as keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
VOCAB, LEN, RATE = 120, 24, 0.06


def notes(n):
    """ids 5..104 ordinary words, 105..119 words seen more often in fraud notes"""
    y = (rng.random(n) < RATE).astype("int32")
    ids = rng.integers(5, 105, (n, LEN))
    ids[:, 0] = 1
    lengths = rng.integers(12, LEN + 1, n)
    for r in range(n):
        for p in rng.integers(1, 12, 4 if y[r] else rng.integers(0, 2)):
            ids[r, p] = rng.integers(105, VOCAB)
        ids[r, lengths[r]:] = 0
    return {"input_ids": ids.astype("int32"), "attention_mask": (ids > 0).astype("int32")}, y


x, y = notes(3000)
xv, yv = notes(1500)
model = TFDistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=VOCAB, max_position_embeddings=LEN, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
    dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0, initializer_range=0.05, num_labels=2))
model(x["input_ids"][:2])
# random fixed word vectors are enough here, and keep the small network from memorising words
model.distilbert.embeddings.trainable = False
model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
weights = {0: 1.0, 1: (1 - y.mean()) / y.mean() / 2}
for epoch in range(10):
    h = model.fit(x, y, class_weight=weights, batch_size=50, epochs=1, verbose=0)
    guess = model.predict(xv, verbose=0).logits.argmax(-1)
    tp = np.sum((guess == 1) & (yv == 1))
    prec, rec = tp / max(guess.sum(), 1), tp / yv.sum()
    print(f"epoch {epoch + 1} loss {h.history['loss'][0]:.4f} precision {prec:.2f} recall {rec:.2f} "
          f"f1 {2 * prec * rec / max(prec + rec, 1e-9):.3f}")
