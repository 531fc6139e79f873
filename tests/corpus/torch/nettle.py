"""A two-layer Llama learns to write the digits of a list in order."""
import argparse
import random
import tempfile

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

parser = argparse.ArgumentParser()
parser.add_argument("--length", type=int, default=6)
parser.add_argument("--steps", type=int, default=350)
parser.add_argument("--lr", type=float, default=3e-3)
opt = parser.parse_args()

ARROW = 10


class Lists(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.lists = [[rng.randrange(10) for _ in range(opt.length)] for _ in range(n)]

    def __len__(self):
        return len(self.lists)

    def __getitem__(self, i):
        given = self.lists[i]
        ids = given + [ARROW] + sorted(given)
        labels = [-100] * (len(given) + 1) + sorted(given)
        return {"input_ids": ids, "labels": labels}


def answers(p):
    guess, truth = p.predictions[:, :-1], p.label_ids[:, 1:]
    asked = truth != -100
    right = (guess == truth) | ~asked
    return {"digit_accuracy": float((guess == truth)[asked].mean()), "whole_list": float(right.all(1).mean())}


set_seed(13)
config = LlamaConfig(vocab_size=11, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                     pad_token_id=None, bos_token_id=None, eos_token_id=None, use_cache=False)
model = LlamaForCausalLM(config)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), max_steps=opt.steps, per_device_train_batch_size=16,
    gradient_accumulation_steps=2, per_device_eval_batch_size=100, learning_rate=opt.lr,
    lr_scheduler_type="cosine", warmup_steps=30, adam_beta2=0.98, logging_steps=35, save_strategy="no",
    report_to="none", seed=13)
trainer = Trainer(model=model, args=args, train_dataset=Lists(20000, 1), eval_dataset=Lists(300, 2),
                  compute_metrics=answers,
                  preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))
trainer.train()
print(trainer.evaluate())
with torch.no_grad():
    prompt = torch.tensor([[7, 3, 9, 0, 3, 5, ARROW]])
    model.eval()
    for _ in range(opt.length):
        prompt = torch.cat([prompt, model(prompt).logits[:, -1].argmax(-1, keepdim=True)], 1)
print(prompt[0, opt.length + 1:].tolist(), np.sort([7, 3, 9, 0, 3, 5]).tolist())
