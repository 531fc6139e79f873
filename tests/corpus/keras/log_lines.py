# Which subsystem wrote this log line? Tiny text CNN, everything incl. weights in bfloat16.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers, ops

SUBSYSTEMS = {
    "disk": ["read error on sector", "remount of volume", "smart warning for device", "write cache flushed on"],
    "net": ["link down on port", "retransmit to peer", "dropped packets from peer", "handshake with host"],
    "auth": ["login refused for user", "token renewed for user", "password changed by", "session closed for"],
    "sched": ["job queued on node", "preempted task of", "slot freed by task", "job killed on node"],
}
FILL = ["retry", "after", "timeout", "code", "again", "slow", "ok", "warn", "host", "user", "device", "task", "port"]


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    names = list(SUBSYSTEMS)
    text, y = [], rng.integers(0, len(names), n)
    for c in y:
        words = str(rng.choice(SUBSYSTEMS[names[c]])).split()
        words = [w for w in words if rng.random() > 0.3] or words
        other = str(rng.choice(SUBSYSTEMS[names[rng.integers(len(names))]])).split()
        noise = list(rng.choice(FILL, rng.integers(2, 6))) + other[:1]
        body = list(rng.choice(noise, 2)) + words + noise + ["id%d" % rng.integers(60)]
        text.append(body)
    return text, y


def encode(lines, vocab, width=16):
    out = np.zeros((len(lines), width), "int32")
    for r, line in enumerate(lines):
        ids = [vocab.get(w, 1) for w in line][:width]
        out[r, :len(ids)] = ids
    return out


def build(vocab_size, policy):
    keras.utils.set_random_seed(42)
    keras.config.set_dtype_policy(policy)
    inp = keras.Input((None,), dtype="int32")
    x = layers.Embedding(vocab_size, 32)(inp)
    x = layers.Conv1D(64, 3, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.Dense(48, activation="relu")(x)
    out = layers.Dense(len(SUBSYSTEMS), dtype="float32")(x)      # softmax in full precision
    model = keras.Model(inp, out)
    keras.config.set_dtype_policy("float32")
    # sgd, no second moments: an average with 0.999 would stand still in 8 bits of mantissa
    model.compile(keras.optimizers.SGD(0.15, momentum=0.8),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


class Moved(keras.callbacks.Callback):
    """share of the Conv1D weights that an epoch changed"""

    def on_epoch_begin(self, epoch, logs=None):
        self.w = [np.array(ops.cast(v, "float32")) for v in self.model.layers[2].trainable_variables]

    def on_epoch_end(self, epoch, logs=None):
        now = [np.array(ops.cast(v, "float32")) for v in self.model.layers[2].trainable_variables]
        share = np.mean(np.concatenate([(a != b).ravel() for a, b in zip(self.w, now)]))
        print(f"  epoch {epoch} loss {logs['loss']:.4f} moved {share:.2f}")


def main():
    train, ytr = corpus(3000, 0)
    test, yte = corpus(1500, 1)
    words = sorted({w for line in train for w in line})
    vocab = {w: i + 2 for i, w in enumerate(words)}
    xtr, xte = encode(train, vocab), encode(test, vocab)
    score = {}
    for policy in ("bfloat16", "float32"):
        model = build(len(vocab) + 2, policy)
        print(policy, {str(v.dtype) for v in model.trainable_variables})
        model.fit(xtr, ytr, batch_size=32, epochs=5, verbose=0, callbacks=[Moved()])
        p = model.predict(xte, verbose=0).argmax(1)
        f1 = []
        for c in range(len(SUBSYSTEMS)):
            tp = np.sum((p == c) & (yte == c))
            f1.append(2 * tp / (np.sum(p == c) + np.sum(yte == c)))
        score[policy] = (np.mean(p == yte), np.mean(f1))
    for k, (acc, f1) in score.items():
        print(f"{k:9s} held-out accuracy {acc:.3f} macro F1 {f1:.3f}")
    print(f"majority  held-out accuracy {np.bincount(yte).max() / len(yte):.3f}")


if __name__ == "__main__":
    main()
