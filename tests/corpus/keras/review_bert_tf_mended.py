import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification, create_optimizer

GOOD = "lovely crisp friendly superb fresh charming generous perfect tasty warm".split()
BAD = "stale rude greasy cold bland slow dirty overpriced soggy awful".split()
NEUTRAL = ("the a waiter soup table dessert we had and was with our evening menu at lunch bread "
           "window seats then wine of city corner").split()
SPECIAL = ["[PAD]", "[CLS]", "[SEP]"]
VOCAB = {w: i for i, w in enumerate(SPECIAL + GOOD + BAD + NEUTRAL)}

config = {
    "epochs": 3,
    "batch_size": 32,
    "init_lr": 1e-3,
    "max_len": 22,
    "n_train": 1200,
    "n_test": 300,
}


def review(label, rng):
    n_main, n_other = rng.integers(2, 5), rng.integers(0, 2)
    main, other = (GOOD, BAD) if label else (BAD, GOOD)
    words = list(rng.choice(main, n_main)) + list(rng.choice(other, n_other))
    words += list(rng.choice(NEUTRAL, rng.integers(6, 14)))
    rng.shuffle(words)
    return words


def encode(words, max_len):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in words][: max_len - 2] + [VOCAB["[SEP]"]]
    mask = [1] * len(ids) + [0] * (max_len - len(ids))
    return ids + [VOCAB["[PAD]"]] * (max_len - len(ids)), mask


def make_dataset(n, seed, shuffle):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    enc = [encode(review(k, rng), config["max_len"]) for k in labels]
    features = {"input_ids": np.array([e[0] for e in enc], "int32"),
                "attention_mask": np.array([e[1] for e in enc], "int32")}
    ds = tf.data.Dataset.from_tensor_slices((features, labels.astype("int32")))
    if shuffle:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(config["batch_size"])


def build_model():
    return TFBertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=32, num_labels=2))


def main():
    tf.keras.utils.set_random_seed(12)
    train_ds = make_dataset(config["n_train"], 1, True)
    test_ds = make_dataset(config["n_test"], 2, False)
    model = build_model()

    total_steps = config["epochs"] * len(train_ds)
    optimizer, schedule = create_optimizer(
        init_lr=config["init_lr"],
        num_train_steps=total_steps,
        num_warmup_steps=0,
        weight_decay_rate=0.01,
    )
    model.compile(optimizer=optimizer,
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(train_ds, validation_data=test_ds, epochs=config["epochs"], verbose=2)
    loss, acc = model.evaluate(test_ds, verbose=0)
    print(f"test loss {loss:.4f} accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
