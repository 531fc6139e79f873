"""Which month is an almanac entry about?  RoBERTa from scratch on generated entries."""
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed)

set_seed(7)
rng = random.Random(7)

SEASONS = {
    "winter": "frost snow ice hearth candle sleet icicle wool".split(),
    "spring": "lamb seed thrush blossom drizzle ploughing primrose nest".split(),
    "summer": "hay swallow drought thunder bee strawberry sickle swim".split(),
    "autumn": "apple mist bonfire acorn gale mushroom goose cider".split(),
}
FILLER = ("the a of on in with before after if when then comes goes day night morning moon wind "
          "farmer old field early late long short good poor year week river hill village").split()
NAMES = list(SEASONS)


def entry(label):
    n = rng.randint(20, 110)
    words = [rng.choice(FILLER) for _ in range(n)]
    for _ in range(max(4, n // 6)):
        words[rng.randrange(n)] = rng.choice(SEASONS[NAMES[label]])
    return " ".join(words)


def make(n):
    labels = [rng.randrange(4) for _ in range(n)]
    return Dataset.from_dict({"text": [entry(l) for l in labels], "label": labels})


vocab = ["<s>", "<pad>", "</s>", "<unk>"] + FILLER + sum(SEASONS.values(), [])
tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocab)}, unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", pad_token="<pad>",
                                    eos_token="</s>", unk_token="<unk>")

MAX_LEN = 64


def encode(batch):
    return tokenizer(batch["text"], truncation=True, max_length=MAX_LEN)


train = make(800).map(encode, batched=True, remove_columns="text")
test = make(200).map(encode, batched=True, remove_columns="text")

config = RobertaConfig(
    vocab_size=len(vocab),
    hidden_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=MAX_LEN,
    pad_token_id=tokenizer.pad_token_id,
    num_labels=4,
)
model = RobertaForSequenceClassification(config)


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


args = TrainingArguments("almanac_out", per_device_train_batch_size=16, num_train_epochs=4,
                         learning_rate=1e-3, warmup_ratio=0.1, eval_strategy="epoch",
                         save_strategy="no", logging_steps=25, report_to="none", seed=7)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=test, processing_class=tokenizer,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=accuracy)
trainer.train()
print(trainer.evaluate())
