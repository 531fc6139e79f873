import random

import torch
from datasets import Dataset
from sklearn.metrics import classification_report
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(3)
rng = random.Random(3)
TEAMS = ["billing", "shipping", "login", "hardware"]
PHRASES = {
    "billing": ["i was charged twice", "the invoice is wrong", "please refund my payment", "my card was declined"],
    "shipping": ["the parcel never arrived", "tracking shows no update", "the box came damaged", "deliver to another address"],
    "login": ["i forgot my password", "the code is not accepted", "my account is locked", "the reset mail never came"],
    "hardware": ["the screen stays black", "the fan is very loud", "the battery drains fast", "a key is broken"],
}
SMALLTALK = ["hello", "good morning", "i hope you are well", "this is the second time i write", "thanks in advance",
             "i am a customer since 2015", "best regards", "please answer soon", "i bought it last week"]


def ticket():
    team = rng.randrange(4)
    parts = rng.sample(PHRASES[TEAMS[team]], rng.randint(1, 2)) + rng.sample(SMALLTALK, rng.randint(0, 7))
    rng.shuffle(parts)
    return {"text": " . ".join(parts), "label": team}


train = Dataset.from_list([ticket() for _ in range(1600)])
test = Dataset.from_list([ticket() for _ in range(400)])

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(train["text"], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")

encode = lambda b: tok(["[CLS] " + t for t in b["text"]], truncation=True, max_length=64)
train = train.map(encode, batched=True)
test = test.map(encode, batched=True)

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=64, num_labels=4))

args = TrainingArguments(
    "out_tickets", num_train_epochs=4, per_device_train_batch_size=32, per_device_eval_batch_size=32,
    learning_rate=1e-3, group_by_length=True, eval_strategy="epoch", logging_strategy="epoch",
    save_strategy="no", report_to="none", disable_tqdm=True)

trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  data_collator=DataCollatorWithPadding(tok))
trainer.train()

output = trainer.predict(test)
guess = output.predictions.argmax(-1)
truth = test["label"]
print(classification_report(list(truth), guess, target_names=TEAMS, digits=3))
for i in range(5):
    print(f"{TEAMS[guess[i]]:10s} <- {test[i]['text'][:70]}")
