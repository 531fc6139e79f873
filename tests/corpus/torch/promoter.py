import random
import tempfile
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

BASES = "ACGT"
SEQ = 36


def make_sequences(n, seed, rate=0.2):
    rnd = random.Random(seed)
    rows = []
    for _ in range(n):
        s = [rnd.choice(BASES) for _ in range(SEQ)]
        positive = rnd.random() < rate
        if positive:
            at = rnd.randrange(6, 12)
            s[at:at + 6] = "TATAAT"
            s[at + 10:at + 14] = "CCGG"
        rows.append({"dna": "".join(s), "is_promoter": int(positive)})
    return rows


def collate(rows):
    ids = torch.tensor([[4] + [BASES.index(c) for c in r["dna"]] for r in rows])
    return {"input_ids": ids, "labels": torch.tensor([r["is_promoter"] for r in rows])}


class WeightedTrainer(Trainer):
    weights = torch.tensor([1.0, 2.0])

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = torch.nn.functional.cross_entropy(out.logits, labels, weight=self.weights)
        return (loss, out) if return_outputs else loss


def scores(p):
    logits = p.predictions
    margin = logits[:, 1] - logits[:, 0]
    return {"ap": average_precision_score(p.label_ids, margin),
            "f1": f1_score(p.label_ids, margin > 0),
            "accuracy": float(((margin > 0) == p.label_ids).mean())}


def main():
    set_seed(4)
    train, test = make_sequences(2400, 0), make_sequences(800, 1)
    config = BertConfig(vocab_size=5, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, pad_token_id=None,
                        intermediate_size=96, max_position_embeddings=SEQ + 1, num_labels=2,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=6, learning_rate=2e-3,
                             per_device_train_batch_size=32, per_device_eval_batch_size=200, warmup_steps=50,
                             remove_unused_columns=False, label_names=["labels"], eval_strategy="epoch",
                             save_strategy="no", logging_steps=75, report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = WeightedTrainer(model=BertForSequenceClassification(config), args=args, train_dataset=train,
                              eval_dataset=test, data_collator=collate, compute_metrics=scores)
    trainer.train()
    m = trainer.evaluate()
    share = 1 - np.mean([r["is_promoter"] for r in test])
    print(f"average precision {m['eval_ap']:.3f} f1 {m['eval_f1']:.3f} accuracy {m['eval_accuracy']:.3f}"
          f" (majority {share:.3f}) loss {m['eval_loss']:.3f}")


if __name__ == "__main__":
    main()
