import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import random
import numpy as np
import tensorflow as tf
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DataCollatorForTokenClassification, DistilBertConfig, PreTrainedTokenizerFast,
                          TFDistilBertForTokenClassification)

tf.keras.utils.set_random_seed(17)
random.seed(17)
TAGS = ["O", "PER", "LOC"]
NAMES = ["anna", "paul", "mira", "jon", "lena", "omar", "paris", "jordan"]
PLACES = ["berlin", "oslo", "lima", "kyoto", "delhi", "paris", "jordan"]
VERBS = ["visited", "left", "likes", "knows"]


def sentence():
    words, tags = [random.choice(NAMES)], [1]
    words.append(random.choice(VERBS)); tags.append(0)
    if random.random() < 0.5:
        words += ["city", "of"]; tags += [0, 0]
        words.append(random.choice(PLACES)); tags.append(2)
    else:
        words += ["my", "friend"]; tags += [0, 0]
        words.append(random.choice(NAMES)); tags.append(1)
    for _ in range(random.randint(0, 5)):
        words.append(random.choice(["again", "today", "with", "joy", "and", "care"])); tags.append(0)
    return {"tokens": words, "tags": tags}


rows = [sentence() for _ in range(1500)]
specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
words = sorted({w for r in rows for w in r["tokens"]})
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(specials + words)}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def encode(row):
    enc = tokenizer(row["tokens"], is_split_into_words=True, return_token_type_ids=False)
    enc["labels"] = [-100 if w is None else row["tags"][w] for w in enc.word_ids()]
    return enc


data = Dataset.from_list(rows).map(encode, remove_columns=["tokens", "tags"]).train_test_split(0.2, seed=1)
config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32, num_labels=len(TAGS))
model = TFDistilBertForTokenClassification(config)
collator = DataCollatorForTokenClassification(tokenizer, return_tensors="tf")
train = model.prepare_tf_dataset(data["train"], batch_size=32, shuffle=True, collate_fn=collator)
test = data["test"].to_tf_dataset(columns=["input_ids", "attention_mask"], label_cols=["labels"], batch_size=32,
                                  shuffle=False, collate_fn=collator)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
model.fit(train, validation_data=test, epochs=4, verbose=2)

hits = []
for batch, labels in test:
    pred = model(batch, training=False).logits.numpy().argmax(-1)
    keep = labels.numpy() != -100
    hits.append((pred == labels.numpy())[keep])
print("token accuracy on test:", np.concatenate(hits).mean().round(4))
