import random
import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
random.seed(7)
topics = {
    "billing": "invoice refund charge card payment receipt double amount".split(),
    "login": "password reset account locked email code verify signin".split(),
    "delivery": "parcel courier late address tracking box missing door".split(),
}
filler = "hello please the my i have was is not with again today thanks team since".split()


def make(n):
    rows = {"text": [], "topic": []}
    for _ in range(n):
        topic = random.choice(list(topics))
        words = random.choices(filler, k=random.randint(5, 14)) + random.sample(topics[topic], 2)
        random.shuffle(words)
        rows["text"].append(" ".join(words))
        rows["topic"].append(topic)
    return Dataset.from_dict(rows)


train, test = make(900), make(300)

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(train["text"], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")
topic2id = {t: i for i, t in enumerate(topics)}


def encode(batch):
    enc = tok(["[CLS] " + t for t in batch["text"]], truncation=True, max_length=32)
    enc["topic_id"] = [topic2id[t] for t in batch["topic"]]
    return enc


train = train.map(encode, batched=True)
test = test.map(encode, batched=True)

config = BertConfig(vocab_size=len(tok), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=40, num_labels=len(topics))
model = BertForSequenceClassification(config)


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}


args = TrainingArguments("out_tickets", num_train_epochs=4, per_device_train_batch_size=16, learning_rate=1e-3,
                         logging_steps=40, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  data_collator=DataCollatorWithPadding(tok), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
