"""Rare severe incidents in short reports. BERT from a config, word vectors made beforehand from the unlabelled
reports and kept fixed on purpose, class weights in a Trainer subclass, batches padded to the longest report."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(9)
rng = np.random.default_rng(9)
SEVERE = "smoke fire leak injured evacuated alarm spill burst explosion ambulance".split()
MILD = "squeak dust label scratch noise loose bulb dirty slow creak".split()
PLACES = "hall dock line press crane belt oven tank roof office gate yard".split()
GLUE = "the a in at near was is reported by shift again during on no small and of from checked".split()
VOCAB = ["<pad>", "<s>"] + SEVERE + MILD + PLACES + GLUE
ID = {w: i for i, w in enumerate(VOCAB)}


def report():
    bad = rng.random() < 0.08
    n = int(rng.integers(8, 26))
    words = list(rng.choice(GLUE + PLACES, n))
    hits = rng.choice(n, 3, replace=False)
    for h in hits[:2]:
        words[h] = rng.choice(SEVERE if bad else MILD)
    if not bad and rng.random() < 0.35:          # "no fire": harmless mention
        k = int(rng.integers(0, n - 1))
        words[k], words[k + 1] = "no", rng.choice(SEVERE)
    return words, int(bad)


def word_vectors(reports, dim):
    """PMI + SVD on plain co-occurrence."""
    c = np.ones((len(VOCAB), len(VOCAB))) * 0.1
    for words in reports:
        ids = [ID[w] for w in words]
        for i, a in enumerate(ids):
            for b in ids[max(0, i - 8):i]:
                c[a, b] += 1
                c[b, a] += 1
    p = c / c.sum()
    pmi = np.maximum(np.log(p / np.outer(p.sum(1), p.sum(0))), 0)
    u, s, _ = np.linalg.svd(pmi)
    v = u[:, :dim] * np.sqrt(s[:dim])
    return torch.tensor(v / v.std() * 0.5, dtype=torch.float32)


def collate(batch):
    longest = max(len(w) for w, _ in batch) + 1
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for r, (words, _) in enumerate(batch):
        row = [ID["<s>"]] + [ID[w] for w in words]
        ids[r, :len(row)] = torch.tensor(row)
        mask[r, :len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([y for _, y in batch])}


class WeightedTrainer(Trainer):
    class_weights = None

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = F.cross_entropy(out.logits, labels, weight=self.class_weights)
        return (loss, out) if return_outputs else loss


def metrics(p):
    logits = torch.from_numpy(p.predictions)
    severe = torch.softmax(logits, -1)[:, 1].numpy()
    return {"average_precision": average_precision_score(p.label_ids, severe),
            "balanced_accuracy": balanced_accuracy_score(p.label_ids, logits.argmax(-1).numpy())}


def main():
    unlabelled = [report()[0] for _ in range(1500)]
    train, valid, test = ([report() for _ in range(n)] for n in (1600, 400, 1200))
    config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=32, num_labels=2,
                        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0)
    model = BertForSequenceClassification(config)
    table = model.bert.embeddings.word_embeddings
    with torch.no_grad():
        table.weight.copy_(word_vectors(unlabelled, 48))
    table.weight.requires_grad_(False)

    args = TrainingArguments(
        output_dir="out/incident_triage", num_train_epochs=8, per_device_train_batch_size=16,
        gradient_accumulation_steps=2, per_device_eval_batch_size=200, learning_rate=1.5e-3, warmup_ratio=0.1,
        lr_scheduler_type="cosine", eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
        remove_unused_columns=False, label_names=["labels"], report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                              data_collator=collate, compute_metrics=metrics)
    share = np.mean([y for _, y in train])
    trainer.class_weights = torch.tensor([0.5 / (1 - share), 0.5 / share], dtype=torch.float32)
    trainer.train()
    m = trainer.evaluate(test, metric_key_prefix="test")
    print(f"TEST average precision {m['test_average_precision']:.3f} (base rate {np.mean([y for _, y in test]):.3f})  "
          f"balanced accuracy {m['test_balanced_accuracy']:.3f}")


if __name__ == "__main__":
    main()
