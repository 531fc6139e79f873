import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from dataclasses import dataclass
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import GPT2Config, TFGPT2LMHeadModel

PAD, BOS, EOS = 0, 1, 2
VERBS = ["chop", "boil", "fry", "stir", "peel", "grate", "roast", "drain"]
FOODS = ["carrot", "onion", "rice", "potato", "cheese", "garlic", "pasta", "leek"]
HOW = ["gently", "slowly", "quickly", "twice", "well", "finely", "dry", "dark"]
JOIN = ["then", "and", "while"]


@dataclass
class Cfg:
    max_len: int = 40
    n_train: int = 1500
    n_val: int = 300
    batch: int = 50
    epochs: int = 5
    lr: float = 0.2


def sentence(rng):
    words = []
    for i in range(rng.choice([1, 1, 1, 2])):
        v = rng.integers(8)
        f = (v + rng.choice([0, 1], p=[0.85, 0.15])) % 8
        words += [VERBS[v], "the", FOODS[f], HOW[(v * 3 + f) % 8]]
        words.append(JOIN[rng.integers(3)])
    return words[:-1]


def build_vocab():
    words = ["<pad>", "<bos>", "<eos>", "the"] + VERBS + FOODS + HOW + JOIN
    return {w: i for i, w in enumerate(words)}


def encode(sents, vocab, max_len):
    ids = np.full((len(sents), max_len), PAD, np.int32)
    for r, s in enumerate(sents):
        row = [BOS] + [vocab[w] for w in s] + [EOS]
        ids[r, : len(row)] = row
    return ids, (ids != PAD).astype(np.int32)


def to_dataset(ids, mask, cfg, training):
    labels = np.where(mask == 1, ids, -100)
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": ids, "attention_mask": mask, "labels": labels})
    if training:
        ds = ds.shuffle(len(ids), seed=3)
    return ds.batch(cfg.batch)


def word_accuracy(model, ids, mask):
    logits = model(input_ids=ids, attention_mask=mask, training=False).logits.numpy()
    hit = logits[:, :-1].argmax(-1) == ids[:, 1:]
    keep = mask[:, 1:].astype(bool)
    return hit[keep].mean()


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    vocab = build_vocab()
    tr = encode([sentence(rng) for _ in range(cfg.n_train)], vocab, cfg.max_len)
    va = encode([sentence(rng) for _ in range(cfg.n_val)], vocab, cfg.max_len)
    model = TFGPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=cfg.max_len, n_embd=48, n_layer=2,
                                         n_head=4, bos_token_id=BOS, eos_token_id=EOS, resid_pdrop=0.0,
                                         embd_pdrop=0.0, attn_pdrop=0.0))
    opt = keras.optimizers.SGD(cfg.lr, momentum=0.8, clipnorm=1.0)

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True).loss)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    train_ds = to_dataset(*tr, cfg, True)
    val_ds = to_dataset(*va, cfg, False)
    for ep in range(cfg.epochs):
        losses = [float(step(b)) for b in train_ds]
        val = np.mean([float(tf.reduce_mean(model(b, training=False).loss)) for b in val_ds])
        print(f"epoch {ep + 1} train {np.mean(losses):.3f} val {val:.3f} ppl {np.exp(val):.2f} "
              f"word acc {word_accuracy(model, *va):.3f}")


if __name__ == "__main__":
    main()
