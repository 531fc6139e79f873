"""Curriculum learning for a causal model of loom motifs: short repeats first (competence-based pacing)."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset, Sampler
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PAD, BOS, EOS = 0, 1, 2
THREADS = 12
LENGTH = 26


def motif(g):
    period = int(g.integers(2, 5))
    unit = 3 + g.integers(0, THREADS, size=period)
    n = int(g.integers(12, LENGTH - 2))
    body = np.resize(unit, n)
    return period, [BOS, *body.tolist(), EOS]


class Motifs(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.rows = [motif(g) for _ in range(n)]
        self.difficulty = np.array([p * 100 + len(x) for p, x in self.rows])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x = torch.tensor(self.rows[i][1])
        ids = torch.full((LENGTH,), PAD)
        ids[: len(x)] = x
        mask = (torch.arange(LENGTH) < len(x)).long()
        return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


class CompetenceSampler(Sampler):
    """c(t) = sqrt(t (1 - c0^2) / T + c0^2); each pass draws from the easiest c(t) share"""

    def __init__(self, difficulty, passes, c0=0.2, seed=0):
        self.order = np.argsort(difficulty, kind="stable")
        self.passes, self.c0, self.t = passes, c0, 0
        self.g = np.random.default_rng(seed)

    def __len__(self):
        return len(self.order)

    def __iter__(self):
        c = min(1.0, np.sqrt(self.t * (1 - self.c0**2) / max(1, self.passes // 2) + self.c0**2))
        self.t += 1
        pool = self.order[: int(c * len(self.order))]
        yield from self.g.choice(pool, size=len(self.order)).tolist()


class CurriculumTrainer(Trainer):
    def _get_train_sampler(self, train_dataset=None):
        ds = train_dataset if train_dataset is not None else self.train_dataset
        return CompetenceSampler(ds.difficulty, int(self.args.num_train_epochs), seed=self.args.seed)


def keep_argmax(logits, labels):
    return logits.argmax(-1)


def next_thread_accuracy(p):
    guess, truth = p.predictions, p.label_ids
    seen = truth != -100
    late = seen & (np.arange(truth.shape[1]) >= 8)
    return {"acc": float((guess == truth)[seen].mean()), "acc_after_8": float((guess == truth)[late].mean())}


if __name__ == "__main__":
    set_seed(13)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=3 + THREADS, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                       bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD))
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(tmp, num_train_epochs=14, per_device_train_batch_size=32, learning_rate=3e-3,
                                 per_device_eval_batch_size=100, lr_scheduler_type="cosine", warmup_steps=40,
                                 eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
                                 load_best_model_at_end=True, metric_for_best_model="acc_after_8",
                                 logging_steps=100, report_to="none", disable_tqdm=True, seed=13)
        trainer = CurriculumTrainer(model=model, args=args, train_dataset=Motifs(1600, 0), eval_dataset=Motifs(300, 1),
                                    compute_metrics=next_thread_accuracy, preprocess_logits_for_metrics=keep_argmax)
        trainer.train()
        print(trainer.evaluate())
