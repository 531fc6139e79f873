"""Kitchen arithmetic: decoder trained on the answer part only, tiny table of all sums."""
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, TrainerCallback, set_seed

FOODS = ["eggs", "figs", "nuts", "pies"]
WORDS = ["<pad>", "<eos>", "plus", "makes", "cook", "has"] + FOODS + [str(i) for i in range(19)]
T = {w: i for i, w in enumerate(WORDS)}


def example(a, b, food):
    prompt = ["cook", "has", str(a), food, "plus", str(b), food, "makes"]
    answer = [str(a + b), food, "<eos>"]
    return [T[w] for w in prompt], [T[w] for w in answer]


pairs = [(a, b, f) for a in range(10) for b in range(10) for f in FOODS]
held = [(a, b, f) for k, (a, b, f) in enumerate(pairs) if (3 * a + 7 * b + FOODS.index(f)) % 8 == 0]
seen = [p for p in pairs if p not in held]


def collate(rows):
    ids, labels = [], []
    for row in rows:
        p, a = example(*row["fact"])
        ids.append(p + a)
        labels.append([-100] * len(p) + a)
    ids, labels = torch.tensor(ids), torch.tensor(labels)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


@torch.no_grad()
def exact(model, facts):
    was = model.training
    model.eval()
    ids = torch.tensor([example(*f)[0] for f in facts])
    n = ids.shape[1]
    for _ in range(3):
        ids = torch.cat([ids, model(ids).logits[:, -1].argmax(-1, keepdim=True)], 1)
    want = torch.tensor([example(*f)[1] for f in facts])
    model.train(was)
    return (ids[:, n:] == want).all(1).float().mean().item()


class Check(TrainerCallback):
    def on_epoch_end(self, args, state, control, model=None, **kw):
        if int(round(state.epoch)) % 10 == 0:
            print(f"epoch {state.epoch:.0f} seen {exact(model, seen):.3f} held out {exact(model, held):.3f}")


class InOrderTrainer(Trainer):
    """Every batch holds the same spread of sums, so the order is fixed."""

    def _get_train_sampler(self, train_dataset=None):
        return torch.utils.data.SequentialSampler(self.train_dataset)


set_seed(12)
order = torch.randperm(len(seen)).tolist()
train = [{"fact": seen[i]} for i in order]
model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(WORDS), n_positions=16, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=1, pad_token_id=0))
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), num_train_epochs=80, per_device_train_batch_size=50, learning_rate=2e-3,
    lr_scheduler_type="cosine", warmup_steps=20, weight_decay=0.1, logging_steps=70,
    save_strategy="no", report_to="none", remove_unused_columns=False, use_cpu=True, disable_tqdm=True)
trainer = InOrderTrainer(model=model, args=args, train_dataset=train, data_collator=collate, callbacks=[Check()])
trainer.train()
print("seen", exact(model, seen), "held out", exact(model, held))
