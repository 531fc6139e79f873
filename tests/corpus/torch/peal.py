# plain hunt on six bells: the model reads the rows of a touch and continues them
import random

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(1)
BELLS, ROWS = 6, 6
BAR, START = BELLS, BELLS + 1


def touch():
    row = random.sample(range(BELLS), BELLS)
    tokens = [START]
    for k in range(ROWS):
        tokens += row + [BAR]
        row = row[:]
        for i in range(k % 2, BELLS - 1, 2):
            row[i], row[i + 1] = row[i + 1], row[i]
    return tokens


class Touches(Dataset):
    def __init__(self, n):
        self.rows = torch.tensor([touch() for _ in range(n)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


model = LlamaForCausalLM(LlamaConfig(vocab_size=BELLS + 2, hidden_size=64, intermediate_size=128,
                                     num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64,
                                     bos_token_id=START, eos_token_id=None, use_cache=False))


def keep_ids(logits, labels):
    return logits.argmax(-1)


def compute_metrics(p):
    preds, labels = p.predictions, p.label_ids
    hit = preds == labels
    later = hit[:, 2 * (BELLS + 1):]
    return {"bell_accuracy": float(hit.mean()), "from_third_row": float(later.mean())}


trainer = Trainer(
    model=model,
    args=TrainingArguments("out/peal", num_train_epochs=8, learning_rate=3e-3, warmup_ratio=0.1,
                           per_device_train_batch_size=32, per_device_eval_batch_size=64, eval_strategy="epoch",
                           logging_steps=40, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=Touches(2000),
    eval_dataset=Touches(200),
    data_collator=default_data_collator,
    preprocess_logits_for_metrics=keep_ids,
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
