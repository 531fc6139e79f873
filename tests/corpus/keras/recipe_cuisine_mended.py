import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

CUISINES = {
    "italian": "basil tomato mozzarella oregano pasta parmesan olive",
    "thai": "lemongrass coconut galangal lime fishsauce chili rice",
    "mexican": "corn avocado cumin coriander beans lime chili",
    "french": "butter shallot cream thyme wine tarragon mushroom",
    "indian": "turmeric cumin ghee lentil cardamom chili rice",
}
COMMON = "salt pepper water oil onion garlic sugar flour egg milk carrot potato stir chop boil bake fry mix serve heat".split()
WORDS = ["[PAD]", "[CLS]", "[SEP]"] + sorted(set(COMMON + " ".join(CUISINES.values()).split()))
LOOKUP = {w: i for i, w in enumerate(WORDS)}
SEQ = 22


class RecipeMaker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self):
        label = int(self.rng.integers(len(CUISINES)))
        special = list(CUISINES.values())[label].split()
        words = list(self.rng.choice(special, 4, replace=False)) + list(self.rng.choice(COMMON, self.rng.integers(8, 15)))
        stray = list(CUISINES.values())[int(self.rng.integers(len(CUISINES)))].split()
        words.append(self.rng.choice(stray))
        self.rng.shuffle(words)
        toks = [LOOKUP["[CLS]"]] + [LOOKUP[w] for w in words] + [LOOKUP["[SEP]"]]
        return toks + [0] * (SEQ - len(toks)), label

    def many(self, n):
        pairs = [self.one() for _ in range(n)]
        ids = np.array([p[0] for p in pairs], "int32")
        return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}, np.array([p[1] for p in pairs])


def main():
    tf.keras.utils.set_random_seed(13)
    x_tr, y_tr = RecipeMaker(1).many(1200)
    x_te, y_te = RecipeMaker(2).many(500)
    cfg = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=SEQ,
        num_labels=len(CUISINES),
        initializer_range=0.02,
        hidden_dropout_prob=0.05,
        attention_probs_dropout_prob=0.05,
    )
    model = TFBertForSequenceClassification(cfg)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3, clipnorm=1.0),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x_tr, y_tr, validation_data=(x_te, y_te), epochs=8, batch_size=32, verbose=2)
    logits = model.predict(x_te, verbose=0).logits
    print("test accuracy %.3f" % (logits.argmax(-1) == y_te).mean())


if __name__ == "__main__":
    main()
