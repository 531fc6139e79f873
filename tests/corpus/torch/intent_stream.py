import random
import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorWithPadding, ElectraConfig, ElectraForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(8)
random.seed(8)

INTENTS = {
    "weather": (["will it {v} in {c}", "is there {v} coming to {c} {d}", "{c} forecast for {d}"], "rain snow hail wind".split()),
    "travel": (["book a {v} to {c} {d}", "how do i get to {c} by {v}", "cancel my {v} from {c}"], "train flight bus ferry".split()),
    "music": (["play some {v} from {c}", "put on {v} {d}", "who sings this {v} song"], "jazz rock polka opera".split()),
    "food": (["where can i eat {v} in {c}", "order {v} for {d}", "find a {v} place near {c}"], "pasta sushi curry tapas".split()),
    "alarm": (["wake me {d} at {n}", "set a {v} for {n}", "remove the {v} {d}"], "timer alarm reminder".split()),
}
CITIES = "paris cairo delhi osaka boston madrid".split()
DAYS = "today tomorrow tonight monday friday".split()
NAMES = list(INTENTS)


def utterance(name):
    patterns, verbs = INTENTS[name]
    return random.choice(patterns).format(v=random.choice(verbs), c=random.choice(CITIES),
                                          d=random.choice(DAYS), n=random.randint(1, 12))


def read_corpus(per_intent):
    # one "file" per intent, like the folders the export tool gives us
    for i, name in enumerate(NAMES):
        for _ in range(per_intent):
            yield {"text": utterance(name), "label": i}


train_raw = Dataset.from_list(list(read_corpus(600)))
test_raw = Dataset.from_list(list(read_corpus(80)))

tk = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tk.pre_tokenizer = pre_tokenizers.Whitespace()
tk.train_from_iterator(train_raw["text"], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
tk.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tk, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]", model_max_length=24)


def encode(batch):
    return tokenizer(batch["text"], truncation=True)


# stream the training side, the real corpus does not fit into memory
stream = train_raw.to_iterable_dataset(num_shards=4)
stream = stream.map(encode, batched=True, remove_columns=["text"])
test = test_raw.map(encode, batched=True, remove_columns=["text"])

model = ElectraForSequenceClassification(ElectraConfig(
    vocab_size=len(tokenizer), embedding_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=32, num_labels=len(NAMES), pad_token_id=tokenizer.pad_token_id))


def compute_metrics(ev):
    logits, y = ev
    guess = np.argmax(logits, axis=-1)
    per_class = {f"recall_{n}": float((guess[y == i] == i).mean()) for i, n in enumerate(NAMES)}
    return {"accuracy": float((guess == y).mean()), **per_class}


BATCH = 32
args = TrainingArguments(
    output_dir="out_intents", max_steps=3 * len(train_raw) // BATCH, per_device_train_batch_size=BATCH,
    learning_rate=1e-3, lr_scheduler_type="constant", logging_steps=20, save_strategy="no", report_to=[], use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=stream, eval_dataset=test,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
for k, v in trainer.evaluate().items():
    print(f"{k:24s} {v:.3f}")
