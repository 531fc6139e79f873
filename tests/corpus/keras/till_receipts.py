"""Decoder-only BERT over short arithmetic "receipts" (TF, tf_keras, transformers).

Each receipt lists three item codes and a running total modulo 10; the model has to carry the total on.
  e.g.  <s> a 3 t 3 c 5 t 8 b 4 t 2 </s>
"""
import os
import sys
import logging

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import BertConfig, TFBertLMHeadModel

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname).1s %(message)s")
log = logging.getLogger("receipts")

BOS, EOS = 10, 11
TOTAL = 12
ITEMS = {13: 1, 14: 3, 15: 4, 16: 6}          # item code -> price
VOCAB = 17
LINES = 5


def receipt(rng):
    seq, total = [BOS], 0
    for _ in range(LINES):
        code = int(rng.choice(list(ITEMS)))
        total = (total + ITEMS[code]) % 10
        seq += [code, TOTAL, total]
    return seq + [EOS]


class ReceiptData(keras.utils.Sequence):
    def __init__(self, n, batch, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.data = np.array([receipt(rng) for _ in range(n)], dtype="int32")
        self.batch = batch
        self.rng = rng

    def __len__(self):
        return len(self.data) // self.batch

    def __getitem__(self, i):
        rows = self.data[i * self.batch:(i + 1) * self.batch]
        return {"input_ids": rows, "labels": rows}

    def on_epoch_end(self):
        self.rng.shuffle(self.data)


def make_model():
    config = BertConfig(
        vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=32, type_vocab_size=1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        is_decoder=False,
        pad_token_id=0, bos_token_id=BOS, eos_token_id=EOS,
    )
    return TFBertLMHeadModel(config)


def continue_receipts(model, rows, known):
    """Feed the first `known` tokens, then add the true item codes and let the model write the totals."""
    @tf.function(reduce_retracing=True)
    def logits_of(ids):
        return model(input_ids=ids, training=False).logits

    ids = rows[:, :known].copy()
    for pos in range(known, rows.shape[1]):
        if (pos - 1) % 3 == 0 and pos < rows.shape[1] - 1:
            nxt = rows[:, pos]                 # item code is given by the till
        else:
            nxt = logits_of(tf.constant(ids))[:, -1].numpy().argmax(-1)
        ids = np.concatenate([ids, nxt[:, None].astype("int32")], axis=1)
    return ids


def main(epochs=8, batch=48):
    keras.utils.set_random_seed(21)
    train = ReceiptData(1920, batch, seed=1)
    test = ReceiptData(240, 48, seed=2)
    model = make_model()
    warm = keras.optimizers.schedules.PolynomialDecay(3e-3, epochs * len(train), 2e-4)
    model.compile(optimizer=keras.optimizers.Adam(warm, clipnorm=1.0))
    hist = model.fit(train, validation_data=test, epochs=epochs, verbose=0)
    for e, (a, b) in enumerate(zip(hist.history["loss"], hist.history["val_loss"]), 1):
        log.info("epoch %2d  loss %.4f  val_loss %.4f", e, a, b)

    out = continue_receipts(model, test.data, known=1)
    spots = np.arange(3, 3 * LINES + 1, 3)
    exact = (out[:, spots] == test.data[:, spots]).mean()
    whole = (out == test.data).all(1).mean()
    log.info("sample  %s", out[0].tolist())
    log.info("truth   %s", test.data[0].tolist())
    log.info("totals right %.3f (guessing 0.100)   whole receipts right %.3f", exact, whole)


if __name__ == "__main__":
    main()
