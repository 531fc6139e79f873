import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BartConfig, BartForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
GOODS = {0: "shirt coat scarf boots gloves dress".split(), 1: "phone charger laptop headset camera".split(),
         2: "cheese honey chocolate tea wine".split(), 3: "novel atlas magazine diary poster".split()}
NOISE = "one two used new gift sample boxed worth euro small large for private use".split()


def declaration():
    y = random.randrange(4)
    words = random.choices(GOODS[y], k=2) + random.choices(NOISE, k=random.randint(4, 9))
    if random.random() < 0.3:
        words.append(random.choice(GOODS[random.randrange(4)]))
    random.shuffle(words)
    return {"text": " ".join(words), "label": y}


data = Dataset.from_list([declaration() for _ in range(1400)]).train_test_split(test_size=200, seed=7)
vocab = {w: i for i, w in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + NOISE + sum(GOODS.values(), []))}
core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", pad_token="<pad>", eos_token="</s>",
                                    unk_token="<unk>", model_input_names=["input_ids", "attention_mask"])
data = data.map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])

model = BartForSequenceClassification(BartConfig(
    vocab_size=len(vocab), d_model=48, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96, max_position_embeddings=40, num_labels=4))


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    classes = np.argmax(predictions, axis=-1)
    return {"accuracy": accuracy_score(labels, classes), "f1": f1_score(labels, classes, average="macro")}


trainer = Trainer(
    model=model,
    args=TrainingArguments("out/customs", num_train_epochs=5, learning_rate=1e-3, per_device_train_batch_size=32,
                           per_device_eval_batch_size=64, eval_strategy="epoch", save_strategy="no",
                           logging_steps=20, report_to="none", use_cpu=True),
    train_dataset=data["train"],
    eval_dataset=data["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
