import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import argparse
import random

import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import DistilBertConfig, PreTrainedTokenizerFast, TFDistilBertForSequenceClassification

ACTS = ["question", "request", "thanks", "complaint"]
OPENERS = {
    "question": ["when does", "where is", "how can i find", "what is"],
    "request": ["please send", "could you change", "i need", "book me"],
    "thanks": ["thank you for", "great work on", "i appreciate", "cheers for"],
    "complaint": ["i am unhappy with", "nobody fixed", "this is wrong with", "sick of"],
}
NOUNS = "the order;my ticket;a new seat;the station;our contract;that bill;the late train".split(";")


def make_turn(rng):
    act = rng.randrange(len(ACTS))
    text = f"{rng.choice(OPENERS[ACTS[act]])} {rng.choice(NOUNS)}"
    reply = f"we will look at {rng.choice(NOUNS)}"
    return f"[USR] {text} [AGT] {reply}", act


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    plain = [t.replace("[USR]", "").replace("[AGT]", "") for t in texts]
    tok.train_from_iterator(plain, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")
    fast.add_special_tokens({"additional_special_tokens": ["[USR]", "[AGT]"]})
    return fast


def build_model(tokenizer, lr):
    config = DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=64, hidden_dim=128, n_layers=2, n_heads=4,
        max_position_embeddings=32, num_labels=len(ACTS),
        pad_token_id=tokenizer.pad_token_id,
    )
    model = TFDistilBertForSequenceClassification(config)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(lr),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def to_dataset(tokenizer, turns, batch_size, shuffle=False):
    enc = tokenizer([t for t, _ in turns], padding=True, return_tensors="np",
                    return_token_type_ids=False)
    ds = tf.data.Dataset.from_tensor_slices((dict(enc), np.array([a for _, a in turns])))
    if shuffle:
        ds = ds.shuffle(len(turns), seed=0)
    return ds.batch(batch_size)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()

    rng = random.Random(4)
    tf_keras.utils.set_random_seed(4)
    turns = [make_turn(rng) for _ in range(900)]
    tokenizer = train_tokenizer([t for t, _ in turns])
    train = to_dataset(tokenizer, turns[:700], args.batch_size, shuffle=True)
    test = to_dataset(tokenizer, turns[700:], args.batch_size)

    model = build_model(tokenizer, args.lr)
    model.fit(train, epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.4f} test accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
