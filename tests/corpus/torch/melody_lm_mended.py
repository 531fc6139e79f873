"""A tiny GPT-2 that learns to continue melodies; judged by its greedy continuation."""
import tempfile

import numpy as np
import torch
from datasets import Dataset
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
    set_seed,
)

N_NOTES = 24
SEQ = 25


class MelodyMaker:
    """Every note has one usual successor; now and then the tune jumps elsewhere."""

    def __init__(self, seed=0, p_jump=0.08):
        self.rng = np.random.default_rng(seed)
        order = np.random.default_rng(1234).permutation(N_NOTES)
        self.successor = np.empty(N_NOTES, dtype=int)
        self.successor[order] = np.roll(order, -1)
        self.p_jump = p_jump

    def __call__(self, length):
        notes = [int(self.rng.integers(N_NOTES))]
        while len(notes) < length:
            if self.rng.random() < self.p_jump:
                notes.append(int(self.rng.integers(N_NOTES)))
            else:
                notes.append(int(self.successor[notes[-1]]))
        return notes


def to_example(notes):
    return {
        "input_ids": notes[:-1],
        "labels": notes[:-1],
    }


def build(n, seed):
    maker = MelodyMaker(seed)
    return Dataset.from_list([to_example(maker(SEQ)) for _ in range(n)])


class PrintLoss(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kw):
        if "loss" in logs:
            print(f"step {state.global_step:4d} loss {logs['loss']:.4f}")


@torch.no_grad()
def continuation_accuracy(model, n=200, prompt=8, new=8):
    model.eval()
    maker = MelodyMaker(seed=99, p_jump=0.0)
    tunes = torch.tensor([maker(prompt + new) for _ in range(n)])
    out = model.generate(
        tunes[:, :prompt],
        attention_mask=torch.ones(n, prompt, dtype=torch.long),
        max_new_tokens=new,
        do_sample=False,
        pad_token_id=N_NOTES,
    )
    return (out[:, prompt:] == tunes[:, prompt:]).float().mean().item()


def main():
    set_seed(17)
    config = GPT2Config(
        vocab_size=N_NOTES + 1, n_positions=32, n_embd=48, n_layer=2, n_head=4,
        bos_token_id=None, eos_token_id=None,
    )
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=4, per_device_train_batch_size=32,
        per_device_eval_batch_size=100, learning_rate=2e-3, logging_steps=40,
        save_strategy="no", eval_strategy="no", report_to="none", use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=build(1000, 1), eval_dataset=build(300, 2),
        data_collator=default_data_collator, callbacks=[PrintLoss()],
    )
    trainer.train()
    res = trainer.evaluate()
    print(f"eval loss {res['eval_loss']:.4f}")
    print(f"greedy continuation accuracy {continuation_accuracy(model):.4f} (chance {1 / N_NOTES:.4f})")


if __name__ == "__main__":
    main()
