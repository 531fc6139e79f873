import argparse
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification, set_seed

INTENTS = {
    "balance": ["how much money is on my account", "show my current balance", "what do i have left in savings"],
    "transfer": ["send money to my brother", "please transfer funds to savings", "move cash from my account"],
    "card_lost": ["i lost my card on the bus", "my card was stolen please block it", "cannot find my card"],
    "rates": ["what are the loan rates today", "how high is the interest on savings", "tell me mortgage rates"],
    "hours": ["when do you open on monday", "what are the branch hours today", "is the branch open now"],
}
CHATTER = "hello hi thanks um please could you maybe today now just quickly sir again well so".split()


class WordTokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.ids = {w: i + 3 for i, w in enumerate(words)}

    def __len__(self):
        return len(self.ids) + 3

    def __call__(self, texts, max_length):
        ids = np.zeros((len(texts), max_length), "int32")
        mask = np.zeros_like(ids)
        for r, t in enumerate(texts):
            row = [1] + [self.ids.get(w, 2) for w in t.split()][: max_length - 1]
            ids[r, : len(row)], mask[r, : len(row)] = row, 1
        return {"input_ids": ids, "attention_mask": mask}


def generate(n, rng):
    names = list(INTENTS)
    texts, labels = [], []
    for _ in range(n):
        k = rng.integers(len(names))
        words = str(rng.choice(INTENTS[names[k]])).split()
        words = [w for w in words if rng.random() > 0.2]
        for _ in range(rng.integers(1, 5)):
            words.insert(rng.integers(0, len(words) + 1), str(rng.choice(CHATTER)))
        texts.append(" ".join(words))
        labels.append(k)
    return texts, np.array(labels)


def main(args):
    set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train_texts, train_labels = generate(1000, rng)
    valid_texts, valid_labels = generate(250, rng)
    tok = WordTokenizer(train_texts)

    def to_ds(texts, labels, training):
        ds = tf.data.Dataset.from_tensor_slices((tok(texts, 20), labels))
        if training:
            ds = ds.shuffle(len(labels), seed=args.seed)
        return ds.batch(args.batch_size)

    train_ds = to_ds(train_texts, train_labels, True)
    valid_ds = to_ds(valid_texts, valid_labels, False)

    cfg = BertConfig(vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=128, max_position_embeddings=32, num_labels=len(INTENTS))
    model = TFBertForSequenceClassification(cfg)

    lr_schedule = tf.keras.optimizers.schedules.PolynomialDecay(
        initial_learning_rate=args.lr, end_learning_rate=0.0, decay_steps=args.epochs * len(train_ds))
    model.compile(
        optimizer=tf.keras.optimizers.Adam(lr_schedule),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train_ds, validation_data=valid_ds, epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(valid_ds, verbose=0)
    print(f"final validation loss {loss:.4f} accuracy {acc:.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=13)
    main(p.parse_args())
