import tempfile

import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

set_seed(19)
KEYS, MOTIF, LENGTH, PAD, MASK = 6, 4, 20, 0, 1
NOTES = KEYS * MOTIF
VOCAB = NOTES + 2


def melody(generator):
    length = int(torch.randint(12, LENGTH + 1, (1,), generator=generator))
    key = int(torch.randint(0, KEYS, (1,), generator=generator))
    notes = key * MOTIF + torch.arange(length) % MOTIF
    stray = torch.rand(length, generator=generator) < 0.1
    notes[stray] = torch.randint(0, NOTES, (int(stray.sum()),), generator=generator)
    return notes + 2


class Melodies(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = [melody(g) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"notes": self.rows[i]}


class GapCollator:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def __call__(self, items):
        width = max(len(r["notes"]) for r in items)
        ids = torch.full((len(items), width), PAD)
        labels = torch.full((len(items), width), -100)
        for i, r in enumerate(items):
            n = len(r["notes"])
            ids[i, :n] = r["notes"]
            holes = torch.randperm(n, generator=self.g)[:2]
            labels[i, holes] = r["notes"][holes]
            ids[i, holes] = MASK
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": labels}


class OrderedTrainer(Trainer):
    def _get_train_sampler(self, *args, **kwargs):
        return SequentialSampler(self.train_dataset)


def best_guess(logits, labels):
    return logits.argmax(-1)


def gap_accuracy(p):
    gap = p.label_ids != -100
    return {"gap_accuracy": float((p.predictions[gap] == p.label_ids[gap]).mean()), "gap_share": float(gap.mean())}


model = BertForMaskedLM(BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                   intermediate_size=128, max_position_embeddings=LENGTH, pad_token_id=PAD,
                                   hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=6, per_device_train_batch_size=32,
                         learning_rate=1.5e-3, warmup_steps=40, lr_scheduler_type="cosine", logging_steps=75,
                         save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
                         remove_unused_columns=False, label_names=["labels"], seed=19)
trainer = OrderedTrainer(model=model, args=args, train_dataset=Melodies(2000, 1), eval_dataset=Melodies(400, 2),
                         data_collator=GapCollator(7), compute_metrics=gap_accuracy,
                         preprocess_logits_for_metrics=best_guess)
trainer.train()
scores = trainer.evaluate()
print(f"eval loss {scores['eval_loss']:.3f}  gap accuracy {scores['eval_gap_accuracy']:.3f}  chance {1 / NOTES:.3f}")
