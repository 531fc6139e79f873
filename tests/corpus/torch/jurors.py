"""Preference tuning of a small decoder by hand (DPO): the jury likes verdicts that repeat the charge in order."""
import copy
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, Trainer, TrainingArguments, set_seed

BOS, SEP, EOS, CHARGES, N = 0, 1, 2, 9, 3
VOCAB = 3 + CHARGES


def answer(charge, way):
    return list(charge) if way == "plain" else list(reversed(charge))


class Supervised(Dataset):
    """clerks' drafts: half keep the order of the charges, half turn it round"""

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            c = (3 + g.choice(CHARGES, size=N, replace=False)).tolist()
            self.rows.append([BOS, *c, SEP, *answer(c, g.choice(["plain", "turned"])), EOS])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        x = torch.tensor(self.rows[i])
        y = x.clone()
        y[: N + 2] = -100
        return {"input_ids": x, "labels": y}


class Verdicts(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            c = (3 + g.choice(CHARGES, size=N, replace=False)).tolist()
            head = [BOS, *c, SEP]
            self.rows.append((head + answer(c, "plain") + [EOS], head + answer(c, "turned") + [EOS]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        liked, other = self.rows[i]
        return {"liked": torch.tensor(liked), "other": torch.tensor(other)}


def answer_logp(model, ids):
    logp = model(ids).logits[:, :-1].log_softmax(-1)
    token = logp.gather(-1, ids[:, 1:, None]).squeeze(-1)
    return token[:, N + 1:].sum(-1)


class PreferenceTrainer(Trainer):
    def __init__(self, *a, beta=0.3, **kw):
        super().__init__(*a, **kw)
        self.beta = beta
        self.anchor = copy.deepcopy(self.model).eval().requires_grad_(False)

    def margins(self, model, inputs):
        ids = torch.cat([inputs["liked"], inputs["other"]])
        policy = answer_logp(model, ids)
        with torch.no_grad():
            base = answer_logp(self.anchor, ids)
        liked, other = (self.beta * (policy - base)).chunk(2)
        return liked, other

    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        liked, other = self.margins(model, inputs)
        loss = -F.logsigmoid(liked - other).mean()
        return (loss, {"logits": liked - other}) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss, out = self.compute_loss(model, inputs, return_outputs=True)
        margin = out["logits"]
        return loss, margin, torch.ones_like(margin)


def jury(p):
    return {"preferred": float((p.predictions > 0).mean()), "margin": float(p.predictions.mean())}


@torch.no_grad()
def share_plain(model, rows=200):
    model.eval()
    g = np.random.default_rng(99)
    charges = torch.tensor(np.stack([3 + g.choice(CHARGES, size=N, replace=False) for _ in range(rows)]))
    ids = torch.cat([torch.full((rows, 1), BOS), charges, torch.full((rows, 1), SEP)], 1)
    for _ in range(N):
        p = model(ids).logits[:, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(p, 1)], 1)
    return (ids[:, -N:] == charges).all(1).float().mean().item()


def main():
    set_seed(101)
    model = GPTNeoXForCausalLM(GPTNeoXConfig(
        vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=16, bos_token_id=BOS, eos_token_id=EOS, use_cache=False))
    with tempfile.TemporaryDirectory() as tmp:
        common = dict(output_dir=tmp, report_to="none", save_strategy="no", disable_tqdm=True, logging_steps=50,
                      per_device_train_batch_size=64, per_device_eval_batch_size=100)
        Trainer(model=model, train_dataset=Supervised(5000, 0),
                args=TrainingArguments(num_train_epochs=9, learning_rate=2e-3, warmup_steps=40, **common)).train()
        print(f"plain verdicts after the drafts {share_plain(model):.3f}")
        trainer = PreferenceTrainer(
            model=model, train_dataset=Verdicts(1200, 1), eval_dataset=Verdicts(200, 2), compute_metrics=jury,
            args=TrainingArguments(num_train_epochs=3, learning_rate=1e-4, remove_unused_columns=False,
                                   eval_strategy="epoch", **common))
        print(trainer.evaluate())
        trainer.train()
        print(trainer.evaluate())
        print(f"plain verdicts after preferences {share_plain(model):.3f}")


if __name__ == "__main__":
    main()
