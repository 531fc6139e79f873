import numpy as np
import torch.nn.functional as F
from datasets import Dataset
from transformers import (BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed)

set_seed(11)
rng = np.random.default_rng(11)
# ids: 0 pad, 1-9 small words, then eight ids each for people, places and dates
TAGS = ["O", "PER", "LOC", "DATE"]


def sentence():
    ids, tags = [], []
    for kind in rng.permutation(3):
        for _ in range(rng.integers(1, 3)):
            ids.append(int(rng.integers(1, 10)))
            tags.append(0)
        ids.append(int(10 + 8 * kind + rng.integers(0, 8)))
        tags.append(int(kind) + 1)
    n = 12 - len(ids)
    return {"input_ids": ids + [0] * n, "attention_mask": [1] * len(ids) + [0] * n, "labels": tags + [-100] * n}


ds = Dataset.from_list([sentence() for _ in range(900)]).train_test_split(test_size=0.2, seed=1)
model = BertForTokenClassification(BertConfig(
    vocab_size=36, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=16, num_labels=len(TAGS)))


class RDropTrainer(Trainer):
    """Two passes with different dropout, pulled together by a KL term."""
    alpha = 0.5

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            a, b = model(**inputs), model(**inputs)
            pa, pb = F.log_softmax(a.logits, -1), F.log_softmax(b.logits, -1)
            kl = F.kl_div(pa, pb, log_target=True, reduction="none") + F.kl_div(pb, pa, log_target=True, reduction="none")
            mask = inputs["attention_mask"].unsqueeze(-1)
            kl = (kl * mask).sum() / mask.sum()
            loss = 0.5 * (a.loss + b.loss) + self.alpha * kl
        return loss.detach() / self.args.gradient_accumulation_steps


def compute_metrics(p):
    pred, keep = p.predictions.argmax(-1), p.label_ids != -100
    entity = keep & (p.label_ids > 0)
    return {"token_acc": (pred[keep] == p.label_ids[keep]).mean(),
            "slot_recall": (pred[entity] == p.label_ids[entity]).mean()}


args = TrainingArguments(output_dir="out_slots", num_train_epochs=5, per_device_train_batch_size=16,
                         learning_rate=1e-3, logging_steps=45, eval_strategy="epoch", save_strategy="no",
                         report_to="none", use_cpu=True, disable_tqdm=True)
trainer = RDropTrainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                       compute_metrics=compute_metrics)
trainer.train()
print("final:", trainer.evaluate())
