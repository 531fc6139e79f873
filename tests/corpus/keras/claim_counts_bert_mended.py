"""Expected claim count per policy from the coded history of the policy holder."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from sklearn.metrics import mean_poisson_deviance
from transformers import BertConfig, TFBertForSequenceClassification

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

EVENTS = ["renewal", "address_change", "late_payment", "speeding_fine", "minor_claim", "major_claim",
          "telematics_good", "telematics_bad", "phone_call", "new_vehicle", "discount", "second_driver"]
RISK = np.array([0, 0, .3, .9, 1.0, 1.6, -1.2, 1.1, 0, .1, -.5, .2])
PAD, CLS = 0, 1
OFFSET = 2


def simulate(n):
    histories, counts = [], np.zeros(n, "float32")
    for i in range(n):
        taste = rng.dirichlet(np.full(len(EVENTS), 0.5))
        length = int(np.clip(rng.geometric(0.07), 3, 60))
        events = rng.choice(len(EVENTS), length, p=taste)
        rate = np.exp(-0.6 + 1.8 * RISK[events].mean())
        counts[i] = rng.poisson(rate)
        histories.append([CLS] + [int(e) + OFFSET for e in events])
    return histories, counts


def collate(rows):
    width = max(len(r) for r in rows)
    ids = np.full((len(rows), width), PAD, "int32")
    mask = np.zeros((len(rows), width), "int32")
    for i, r in enumerate(rows):
        ids[i, :len(r)] = r
        mask[i, :len(r)] = 1
    return ids, mask


def batches(histories, counts, order, batch_size):
    for start in range(0, len(order), batch_size):
        idx = order[start:start + batch_size]
        ids, mask = collate([histories[j] for j in idx])
        yield {"input_ids": ids, "attention_mask": mask}, counts[idx]


def training_stream(histories, counts, batch_size):
    by_length = np.argsort([len(h) for h in histories], kind="stable")
    while True:
        chunks = [by_length[s:s + batch_size] for s in range(0, len(by_length), batch_size)]
        for c in rng.permutation(len(chunks)):
            yield from batches(histories, counts, chunks[c], batch_size)


def poisson_nll(y, log_rate):
    y = tf.reshape(tf.cast(y, tf.float32), (-1, 1))
    log_rate = tf.clip_by_value(log_rate, -8.0, 4.0)
    return tf.reduce_mean(tf.exp(log_rate) - y * log_rate)


histories, counts = simulate(3000)
cut, batch_size = 2400, 40
config = BertConfig(vocab_size=OFFSET + len(EVENTS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=64, num_labels=1, pad_token_id=PAD,
                    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05)
model = TFBertForSequenceClassification(config)
model.compile(optimizer=keras.optimizers.Adam(7e-4), loss=poisson_nll)
model.fit(training_stream(histories[:cut], counts[:cut], batch_size), steps_per_epoch=cut // batch_size,
          epochs=6, verbose=2)

test_h, test_y = histories[cut:], counts[cut:]
logs = [model(x, training=False).logits.numpy()[:, 0] for x, _ in batches(test_h, test_y, np.arange(len(test_h)), 100)]
rate = np.exp(np.clip(np.concatenate(logs), -8, 4))
print("test deviance %.3f" % mean_poisson_deviance(test_y, rate))
print("deviance of the portfolio mean %.3f" % mean_poisson_deviance(test_y, np.full(len(test_y), counts[:cut].mean())))
print("total claims observed %d expected %.0f" % (test_y.sum(), rate.sum()))
