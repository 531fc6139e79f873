import math
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

NOTES = ["C", "D", "E", "F", "G", "A", "B"]
VOCAB = {"<bos>": 0, "<end>": 1, **{n: i + 2 for i, n in enumerate(NOTES)}, "-": 9}


def melody(rng):
    """Walk on the scale; every bar of four is repeated one step higher."""
    tune = []
    pos = rng.randrange(7)
    for _ in range(rng.randint(3, 5)):
        bar = []
        for _ in range(4):
            pos = (pos + rng.choice([-1, 1, 2])) % 7
            bar.append(pos)
        tune += [NOTES[p] for p in bar] + ["-"] + [NOTES[(p + 1) % 7] for p in bar] + ["-"]
    return tune


class Melodies(Dataset):
    def __init__(self, n, seed, length=56):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            ids = [0] + [VOCAB[t] for t in melody(rng)] + [1]
            ids = ids[:length] + [1] * (length - len(ids))
            self.rows.append(ids)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i])
        ends = (ids == VOCAB["<end>"]).cumsum(0)
        labels = ids.clone()
        labels[ends > 1] = -100
        return {"input_ids": ids, "labels": labels}


class Perplexity(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:.0f}  perplexity {math.exp(metrics['eval_loss']):.3f}")


@torch.no_grad()
def answer_accuracy(model, data):
    """How often the repeated bar is predicted right, given everything before it."""
    model.eval()
    hits = total = 0
    for row in data.rows[:100]:
        logits = model(torch.tensor([row])).logits[0]
        guess = logits.argmax(-1)
        for k in range(6, 10):
            hits += int(guess[k - 1] == row[k])
            total += 1
    return hits / total


def main():
    set_seed(31)
    train, test = Melodies(800, 1), Melodies(200, 2)
    config = GPT2Config(vocab_size=len(VOCAB), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                        bos_token_id=0, eos_token_id=1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    trainer = Trainer(
        model=GPT2LMHeadModel(config),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), num_train_epochs=7, learning_rate=3e-3,
            per_device_train_batch_size=32, per_device_eval_batch_size=64,
            warmup_ratio=0.1, lr_scheduler_type="cosine", eval_strategy="epoch",
            prediction_loss_only=True, save_strategy="no", logging_steps=100,
            disable_tqdm=True, report_to=[], use_cpu=True, seed=31),
        train_dataset=train, eval_dataset=test, callbacks=[Perplexity()])
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"test loss {loss:.3f} (uniform {math.log(len(VOCAB)):.3f})")
    print(f"repeated bar predicted right {answer_accuracy(trainer.model, test):.3f} (chance {1 / 7:.3f})")


if __name__ == "__main__":
    main()
