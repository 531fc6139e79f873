# Squeeze a tf-idf + logistic regression classifier into a tiny transformer.
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

p = argparse.ArgumentParser()
p.add_argument("--temperature", type=float, default=2.0)
p.add_argument("--epochs", type=int, default=6)
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--seed", type=int, default=5)
opt = p.parse_args()
set_seed(opt.seed)
rnd = random.Random(opt.seed)

TOPICS = {
    "kitchen": "oven pan spoon recipe sugar butter stew knife flour roast".split(),
    "garden": "soil seed hedge rake tulip compost lawn pruning bulb spade".split(),
    "garage": "engine wrench tyre brake oil piston clutch exhaust spark gear".split(),
    "desk": "printer laptop folder stapler invoice email meeting pencil chair memo".split(),
}
COMMON = "the a we they need use found with old new again today very good bad near".split()
NAMES = list(TOPICS)


def sentence(k):
    pool = TOPICS[NAMES[k]]
    other = TOPICS[rnd.choice(NAMES)]
    words = rnd.choices(pool, k=rnd.randint(2, 4)) + rnd.choices(other, k=1) + rnd.choices(COMMON, k=rnd.randint(4, 9))
    rnd.shuffle(words)
    return " ".join(words)


labels = [rnd.randrange(4) for _ in range(2400)]
texts = [sentence(k) for k in labels]
cut = 2000

vec = TfidfVectorizer()
teacher = LogisticRegression(C=10, max_iter=500).fit(vec.fit_transform(texts[:cut]), labels[:cut])
print("teacher accuracy", round(teacher.score(vec.transform(texts[cut:]), labels[cut:]), 4))
scores = teacher.decision_function(vec.transform(texts)) / opt.temperature
soft = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)

raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(texts[:cut], trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>", "<cls>"]))
tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", cls_token="<cls>")

ds = Dataset.from_dict({"text": ["<cls> " + t for t in texts], "teacher": soft.tolist(), "labels": labels})
ds = ds.map(lambda b: tok(b["text"]), batched=True, remove_columns="text")


class StudentTrainer(Trainer):
    def __init__(self, *a, temperature=1.0, **kw):
        super().__init__(*a, **kw)
        self.t = temperature

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        inputs = dict(inputs)
        target = inputs.pop("teacher")
        out = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        student = out.logits / self.t
        loss = F.kl_div(student, target, reduction="batchmean") * self.t ** 2
        return (loss, out) if return_outputs else loss


def accuracy(p):
    logits = p.predictions[0] if isinstance(p.predictions, tuple) else p.predictions
    return {"accuracy": accuracy_score(p.label_ids, logits.argmax(-1))}


cfg = BertConfig(vocab_size=len(tok), hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                 intermediate_size=96, max_position_embeddings=32, num_labels=4, pad_token_id=tok.pad_token_id)
args = TrainingArguments("out_student", num_train_epochs=opt.epochs, per_device_train_batch_size=32,
                         learning_rate=opt.lr, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
                         report_to=[], remove_unused_columns=False, use_cpu=True, seed=opt.seed)
trainer = StudentTrainer(model=BertForSequenceClassification(cfg), args=args, temperature=opt.temperature,
                         train_dataset=ds.select(range(cut)), eval_dataset=ds.select(range(cut, 2400)),
                         data_collator=DataCollatorWithPadding(tok), compute_metrics=accuracy)
trainer.train()
print("student", trainer.evaluate())
