"""Language model on sequences from a known Markov chain, so that the best possible loss is known."""
import numpy as np
import torch
from datasets import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments,
                          default_data_collator, set_seed)

set_seed(4)
g = np.random.default_rng(4)
K, LENGTH = 24, 32
P = g.dirichlet(np.full(K, 0.35), size=K)
pi = np.linalg.matrix_power(P, 200)[0]


def sample(n):
    cum = P.cumsum(1)
    s = np.empty((n, LENGTH), dtype=np.int64)
    s[:, 0] = g.choice(K, size=n, p=pi / pi.sum())
    for t in range(1, LENGTH):
        s[:, t] = np.minimum((g.random(n)[:, None] > cum[s[:, t - 1]]).sum(1), K - 1)
    return s


train, test = sample(4000), sample(400)
floor = float(-np.log(P[test[:, :-1], test[:, 1:]]).mean())
print(f"uniform guess {np.log(K):.3f} nats, the chain itself on the test rows {floor:.3f} "
      f"(entropy rate {-(pi[:, None] * P * np.log(P + 1e-12)).sum():.3f})")


def as_dataset(a):
    labels = a.copy()
    labels[:, 0] = -100  # nothing comes before it
    return Dataset.from_dict({"input_ids": a, "labels": labels})


class Gap(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"step {state.global_step:4d}: above the chain's own loss by {metrics['eval_loss'] - floor:+.4f}")


model = GPT2LMHeadModel(GPT2Config(vocab_size=K, n_positions=LENGTH, n_embd=48, n_layer=2, n_head=4,
                                   attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
                                   bos_token_id=None, eos_token_id=None))
args = TrainingArguments(
    "out_chains", max_steps=240, per_device_train_batch_size=16, gradient_accumulation_steps=2,
    per_device_eval_batch_size=64, learning_rate=3e-3, lr_scheduler_type="cosine", warmup_steps=20,
    bf16=True, use_cpu=True, eval_strategy="steps", eval_steps=60, logging_steps=60, save_strategy="no",
    report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=as_dataset(train), eval_dataset=as_dataset(test),
                  data_collator=default_data_collator, callbacks=[Gap()])
trainer.train()

with torch.no_grad():
    probs = model(torch.arange(K)[:, None]).logits[:, 0].float().softmax(-1).numpy()
tv = 0.5 * np.abs(probs - P).sum(1)
print(f"final loss {trainer.evaluate()['eval_loss']:.4f}, transition table off by {np.average(tv, weights=pi):.3f} (total variation)")
