import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TFAutoModelForTokenClassification

random.seed(8)
tf_keras.utils.set_random_seed(8)

TAGS = ["O", "STREET", "NUMBER", "CITY"]
STREETS = "elmwood maplecrest riverside oakhurst stationgate millbrook hillview parkside".split()
CITIES = "northbridge lakeford stonehaven westmere ashbourne kingsport".split()
FILL = "send ship deliver it to my parcel at please in for".split()


def example():
    words = random.choices(FILL, k=random.randint(2, 5))
    tags = [0] * len(words)
    words += [random.choice(STREETS), str(random.randint(1, 999))]
    tags += [1, 2]
    if random.random() < 0.4:
        words.append(str(random.randint(1, 999)))
        tags.append(0)
    if random.random() < 0.8:
        words += ["in", random.choice(CITIES)]
        tags += [0, 3]
    return words, tags


corpus = [example() for _ in range(1600)]
raw = Tokenizer(models.WordPiece(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(
    (" ".join(w) for w, _ in corpus),
    trainers.WordPieceTrainer(vocab_size=110, special_tokens=["[PAD]", "[UNK]"]),
)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]")


def encode(rows):
    enc = tokenizer([w for w, _ in rows], is_split_into_words=True, padding="max_length",
                    truncation=True, max_length=48, return_token_type_ids=False, return_tensors="np")
    labels = np.full(enc["input_ids"].shape, -100, dtype="int32")
    for i, (_, tags) in enumerate(rows):
        previous = None
        for j, word_id in enumerate(enc.word_ids(i)):
            if word_id is not None and word_id != previous:
                labels[i, j] = tags[word_id]
            previous = word_id
    return dict(enc), labels


x_train, y_train = encode(corpus[:1300])
x_test, y_test = encode(corpus[1300:])

config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS))
model = TFAutoModelForTokenClassification.from_config(config)

cross_entropy = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), loss=cross_entropy)
model.fit(x_train, y_train, batch_size=32, epochs=4, verbose=2)

pred = model.predict(x_test, verbose=0).logits.argmax(-1)
real = y_test != -100
print("token accuracy %.4f" % np.mean(pred[real] == y_test[real]))
for i, tag in enumerate(TAGS):
    print("  %-7s recall %.4f" % (tag, np.mean(pred[y_test == i] == i)))
