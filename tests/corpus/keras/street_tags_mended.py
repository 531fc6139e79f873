"""Tag street, number and town in one-line addresses with a small DistilBERT (TF)."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import DistilBertConfig, PreTrainedTokenizerFast, TFDistilBertForTokenClassification

random.seed(6)
np.random.seed(6)
tf.random.set_seed(6)

TAGS = ["O", "STREET", "NUMBER", "TOWN"]
HEADS = ["oak", "mill", "river", "stone", "elm", "king", "north", "lark", "hay", "fern"]
STREET_TAILS = ["##street", "##lane", "##gate", "##row", "##walk"]
TOWN_TAILS = ["##ham", "##ton", "##ford", "##bury", "##wick"]
FILLERS = "please deliver to the house at ship this parcel for mr jones near by send it in town of road end tomorrow".split()
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + HEADS + STREET_TAILS + TOWN_TAILS + FILLERS + list("0123456789") + ["##" + d for d in "0123456789"]

core = Tokenizer(models.WordPiece({p: i for i, p in enumerate(PIECES)}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


def sentence():
    words, tags = [], []

    def add(ws, tag):
        words.extend(ws)
        tags.extend([TAGS.index(tag)] * len(ws))

    add(random.sample(FILLERS, random.randint(1, 5)), "O")
    number = [str(random.randint(1, 9999))]
    street = [random.choice(HEADS) + random.choice(STREET_TAILS)[2:]]
    if random.random() < 0.5:
        add(number, "NUMBER"), add(street, "STREET")
    else:
        add(street, "STREET"), add(number, "NUMBER")
    add(random.sample(FILLERS, random.randint(0, 2)), "O")
    add([random.choice(HEADS) + random.choice(TOWN_TAILS)[2:]], "TOWN")
    add(random.sample(FILLERS, random.randint(0, 3)), "O")
    return words, tags


def encode(pairs, max_length=28):
    enc = tokenizer([w for w, _ in pairs], is_split_into_words=True, padding="max_length", truncation=True, max_length=max_length)
    labels = np.full((len(pairs), max_length), -100)
    for i, (_, tags) in enumerate(pairs):
        seen = None
        for pos, word in enumerate(enc.word_ids(i)):
            if word is not None and word != seen:
                labels[i, pos] = tags[word]
            seen = word
    return np.array(enc["input_ids"]), np.array(enc["attention_mask"]), labels


train = encode([sentence() for _ in range(1500)])
test_pairs = [sentence() for _ in range(300)]
test = encode(test_pairs)

config = DistilBertConfig(vocab_size=len(PIECES), dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=32,
                          num_labels=len(TAGS), pad_token_id=0)
model = TFDistilBertForTokenClassification(config)
optimizer = tf.keras.optimizers.Adam(1.5e-3)


@tf.function
def train_step(ids, mask, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(input_ids=ids, attention_mask=mask, labels=labels, training=True).loss)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices(train).shuffle(1500).batch(32, drop_remainder=True)
for epoch in range(8):
    losses = [float(train_step(*b)) for b in batches]
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}")

pred = model(input_ids=test[0], attention_mask=test[1]).logits.numpy().argmax(-1)
enc = tokenizer([w for w, _ in test_pairs], is_split_into_words=True, padding="max_length", truncation=True, max_length=28)
right, total = np.zeros(len(TAGS)), np.zeros(len(TAGS))
for i, (words, tags) in enumerate(test_pairs):
    heads = [enc.word_ids(i).index(w) for w in range(len(words))]
    for pos, tag in zip(heads, tags):
        total[tag] += 1
        right[tag] += pred[i, pos] == tag
print("recall by tag:", {t: round(float(r / n), 3) for t, r, n in zip(TAGS, right, total)})
