"""Route support tickets (token ids) to an urgent queue; one ticket in eight is urgent."""
import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from sklearn.metrics import balanced_accuracy_score, f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

VOCAB, PAD, CLS = 300, 0, 1
URGENT_WORDS = np.arange(280, 300)
rng = np.random.default_rng(23)


def ticket():
    words = rng.integers(2, 280, rng.integers(6, 24))
    urgent = int(rng.random() < 0.125)
    if urgent:
        spots = rng.choice(len(words), 2, replace=False)
        words[spots] = rng.choice(URGENT_WORDS, 2)
    elif rng.random() < 0.1:
        words[rng.integers(len(words))] = rng.choice(URGENT_WORDS)
    return {"input_ids": [CLS, *words.tolist()], "labels": urgent}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    for i, r in enumerate(rows):
        ids[i, : len(r["input_ids"])] = torch.tensor(r["input_ids"])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([r["labels"] for r in rows])}


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels, weight=self.class_weights.to(outputs.logits.device))
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    guess = p.predictions.argmax(-1)
    return {"balanced_accuracy": balanced_accuracy_score(p.label_ids, guess), "f1": f1_score(p.label_ids, guess)}


if __name__ == "__main__":
    torch.manual_seed(23)
    train = Dataset.from_list([ticket() for _ in range(3000)])
    test = Dataset.from_list([ticket() for _ in range(600)])
    share = np.bincount(train["labels"]) / len(train)
    print("share of the classes:", share.round(3))

    config = BertConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                        max_position_embeddings=32, num_labels=2, pad_token_id=PAD, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = BertForSequenceClassification(config)
    # tickets are bags of words here: no use for positions, so they are zeroed and stay so
    model.bert.embeddings.position_embeddings.weight.data.zero_()
    model.bert.embeddings.position_embeddings.weight.requires_grad_(False)

    args = TrainingArguments(
        output_dir="parcel_out", num_train_epochs=8, per_device_train_batch_size=16, gradient_accumulation_steps=2,
        per_device_eval_batch_size=100, learning_rate=2e-3, warmup_ratio=0.15, lr_scheduler_type="cosine", eval_strategy="epoch",
        save_strategy="no", logging_steps=60, report_to="none", use_cpu=True, disable_tqdm=True, seed=23,
    )
    weights = torch.tensor(1 / (2 * share), dtype=torch.float32)
    trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=test, data_collator=collate,
                              compute_metrics=metrics, class_weights=weights)
    trainer.train()
    print(trainer.evaluate())
