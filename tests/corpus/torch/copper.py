import random
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase, NFD, Sequence, StripAccents
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(21)
rng = random.Random(21)

GOOD = ["lovely", "tasty", "crisp", "fresh", "friendly", "perfect", "cosy", "superb"]
BAD = ["soggy", "cold", "stale", "rude", "burnt", "greasy", "noisy", "awful"]
THINGS = ["soup", "bread", "coffee", "waiter", "terrace", "dessert", "salad", "menu", "music", "cake"]
PLACES = ["Café Río", "Blue Door", "The Anchor", "Chez Léa", "Station Bar", "Old Mill"]


def review():
    label = rng.randrange(2)
    words = GOOD if label else BAD
    a, b = rng.sample(THINGS, 2)
    x, y = rng.sample(words, 2)
    return {
        "text": f"At {rng.choice(PLACES)} the {a} was {x} and the {b} was {y}",
        "label": label,
    }


rows = [review() for _ in range(4000)]
data = Dataset.from_list(rows)
unique = list({r["text"]: i for i, r in enumerate(rows)}.values())
data = data.select(unique).train_test_split(test_size=0.2, seed=21)

tok = Tokenizer(WordLevel(unk_token="[UNK]"))
tok.normalizer = Sequence([NFD(), StripAccents(), Lowercase()])
tok.train_from_iterator(
    data["train"]["text"],
    WordLevelTrainer(vocab_size=1000, min_frequency=2, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]),
)
tok.post_processor = TemplateProcessing(
    single="[CLS] $A [SEP]",
    special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))],
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
)

data = data.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True)

model = BertForSequenceClassification(
    BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
               intermediate_size=128, max_position_embeddings=32, num_labels=2)
)


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    return {
        "accuracy": accuracy_score(pred.label_ids, guess),
        "f1": f1_score(pred.label_ids, guess, average="macro"),
    }


with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(
        output_dir=folder,
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=5e-4,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
        use_cpu=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=data["train"],
        eval_dataset=data["test"],
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print(trainer.evaluate())
