# Intent of a two-party chat snippet. Word-level tokenizer trained in place, small BERT from a config.
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(21)
random.seed(21)

INTENTS = {
    "refund": ["i want my money back", "please refund the order", "this was charged twice", "return the payment"],
    "track": ["where is my parcel", "the package has not arrived", "track the delivery", "when will it ship"],
    "cancel": ["please cancel the order", "i do not want it anymore", "stop the subscription", "end my plan"],
    "greet": ["hello there", "good morning", "hi how are you", "nice to meet you"],
}
AGENT = ["how can i help you", "one moment please", "let me check that order", "thank you for waiting",
         "could you share the order number", "i see the payment and the parcel here"]
FILL = ["ok", "well", "so", "actually", "you know", "right", "um"]
NAMES = list(INTENTS)


def agent_turn():
    # agents like to repeat words of other intents, so the speaker matters
    line = random.choice(AGENT)
    if random.random() < 0.5:
        line += " or " + random.choice(INTENTS[random.choice(NAMES)])
    return line


def snippet(label):
    ask = random.choice(INTENTS[NAMES[label]])
    words = [w for w in ask.split() if random.random() > 0.08] or ask.split()
    if random.random() < 0.5:
        words.insert(0, random.choice(FILL))
    turns = [f"<agent> {agent_turn()}", f"<user> {' '.join(words)}", f"<agent> {agent_turn()}"]
    if random.random() < 0.3:
        turns = turns[1:]
    return " ".join(turns)


def make_split(n):
    labels = [random.randrange(len(NAMES)) for _ in range(n)]
    return {"text": [snippet(y) for y in labels], "labels": labels}


train_raw, test_raw = make_split(1600), make_split(400)

# --- tokenizer -------------------------------------------------------------------------------
corpus = [t for lines in INTENTS.values() for t in lines] + AGENT + FILL + ["or"]
backend = Tokenizer(models.WordLevel(unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.train_from_iterator(
    corpus, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
)
tokenizer.add_special_tokens({"additional_special_tokens": ["<user>", "<agent>"]})


def encode(batch):
    texts = ["[CLS] " + t + " [SEP]" for t in batch["text"]]
    return tokenizer(texts, truncation=True, max_length=48, return_token_type_ids=False)


train_ds = Dataset.from_dict(train_raw).map(encode, batched=True, remove_columns=["text"])
test_ds = Dataset.from_dict(test_raw).map(encode, batched=True, remove_columns=["text"])

# --- model -----------------------------------------------------------------------------------
config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=64,
    pad_token_id=tokenizer.pad_token_id,
    num_labels=len(NAMES),
)
model = BertForSequenceClassification(config)


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out/dialog_intent", num_train_epochs=5, learning_rate=1e-3, warmup_ratio=0.1,
        per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
        logging_steps=50, save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True,
    ),
    train_dataset=train_ds,
    eval_dataset=test_ds,
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=metrics,
)
trainer.train()
result = trainer.evaluate()
top = max(np.bincount(test_raw["labels"])) / len(test_raw["labels"])
print(f"vocabulary {len(tokenizer)}  test accuracy {result['eval_accuracy']:.3f}  majority {top:.3f}")
