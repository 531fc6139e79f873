import random

import torch
import torch.nn.functional as F
from datasets import Dataset
from scipy.stats import kendalltau, spearmanr
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(2)
# what the jury likes; only the order of the scores means anything, each jury has its own scale
TASTE = {"nutty": 2, "creamy": 2, "caramel": 3, "fruity": 1, "floral": 1, "sharp": 0.5, "rubbery": -3, "bitter": -2,
         "soapy": -3, "bland": -1, "ammonia": -2, "grassy": 0, "smoky": 0.5, "buttery": 1.5, "crumbly": 0}
TALK = "the rind is paste a little notes of aftertaste long short with and hints very slightly aged".split()


def note():
    words = random.choices(list(TASTE), k=random.randint(2, 5))
    score = sum(TASTE[w] for w in words) + random.gauss(0, 0.3)
    words += random.choices(TALK, k=random.randint(3, 8))
    random.shuffle(words)
    return {"text": " ".join(words), "labels": 50 + 10 * score}


vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + list(TASTE) + TALK)}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")
data = Dataset.from_list([note() for _ in range(1200)]).map(lambda b: tokenizer(b["text"]), batched=True)
data = data.remove_columns("text").train_test_split(test_size=200, seed=2)


class PairwiseTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        margin = outputs.logits - outputs.logits.T
        better = labels[:, None] - labels[None, :]
        loss = F.binary_cross_entropy_with_logits(margin, (better > 0).float(), weight=(better != 0).float())
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    scores = p.predictions[:, 0]
    return {"spearman": spearmanr(scores, p.label_ids)[0], "kendall": kendalltau(scores, p.label_ids)[0]}


config = BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=1)
args = TrainingArguments("out/cheese", num_train_epochs=8, learning_rate=1e-3, per_device_train_batch_size=25,
                         per_device_eval_batch_size=100, eval_strategy="epoch", logging_steps=40,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = PairwiseTrainer(BertForSequenceClassification(config), args, DataCollatorWithPadding(tokenizer),
                          data["train"], data["test"], compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
