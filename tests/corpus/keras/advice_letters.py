import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass
import random
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

COLUMNS = {
    "money": "loan rent salary debt bank savings interest budget pension".split(),
    "family": "mother brother wedding cousin divorce baby aunt sister marriage".split(),
    "work": "boss office colleague promotion meeting overtime desk deadline contract".split(),
}
COMMON = ("dear i have been thinking about this for a long time and do not know what to say "
          "because every week it gets worse please tell me how you would deal with it").split()


@dataclass
class Config:
    dim: int = 48
    heads: int = 4
    layers: int = 2
    positions: int = 64
    max_tokens: int = 96
    batch_size: int = 32
    epochs: int = 4
    lr: float = 1e-3
    seed: int = 5


class WordTokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.vocab = {"[PAD]": 0, "[CLS]": 1, "[UNK]": 2}
        self.vocab.update({w: i + 3 for i, w in enumerate(words)})

    def __call__(self, texts, max_length):
        rows = [[1] + [self.vocab.get(w, 2) for w in t.split()][:max_length - 1] for t in texts]
        width = max(len(r) for r in rows)
        ids = np.zeros((len(rows), width), dtype="int32")
        mask = np.zeros_like(ids)
        for i, r in enumerate(rows):
            ids[i, :len(r)] = r
            mask[i, :len(r)] = 1
        return {"input_ids": ids, "attention_mask": mask}


def letters(n):
    names = sorted(COLUMNS)
    texts, labels = [], []
    for _ in range(n):
        k = random.randrange(len(names))
        length = random.randint(15, 80)
        words = [random.choice(COLUMNS[names[k]]) if random.random() < 0.15 else random.choice(COMMON)
                 for _ in range(length)]
        texts.append(" ".join(words))
        labels.append(k)
    return texts, np.array(labels)


def main(cfg=Config()):
    random.seed(cfg.seed)
    tf_keras.utils.set_random_seed(cfg.seed)
    texts, labels = letters(700)
    tokenizer = WordTokenizer(texts)
    enc = tokenizer(texts, cfg.max_tokens)
    cut = 560
    train = tf.data.Dataset.from_tensor_slices(({k: v[:cut] for k, v in enc.items()}, labels[:cut]))
    train = train.shuffle(cut, seed=cfg.seed).batch(cfg.batch_size)
    val = tf.data.Dataset.from_tensor_slices(({k: v[cut:] for k, v in enc.items()}, labels[cut:])).batch(64)

    model = TFDistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(tokenizer.vocab), dim=cfg.dim, n_heads=cfg.heads, n_layers=cfg.layers,
        hidden_dim=2 * cfg.dim, max_position_embeddings=cfg.positions, num_labels=len(COLUMNS)))
    model.compile(optimizer=tf_keras.optimizers.Adam(cfg.lr),
                  loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
    print("val accuracy:", round(model.evaluate(val, verbose=0)[1], 3))


if __name__ == "__main__":
    main()
