"""Thirty support intents: small BERT, attention pooling and multi-sample dropout over the head."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

N_INTENTS, WORDS, LENGTH = 30, 200, 14
set_seed(77)
gen = np.random.default_rng(77)
PROFILE = gen.dirichlet(np.full(WORDS, 0.06), size=N_INTENTS)


class Utterances(Dataset):
    def __init__(self, n):
        self.y = gen.integers(0, N_INTENTS, n)
        self.x = np.stack([gen.choice(WORDS, size=LENGTH, p=0.7 * PROFILE[k] + 0.3 / WORDS)
                           for k in self.y]) + 1

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": torch.tensor(self.x[i]), "labels": torch.tensor(self.y[i])}


class AttentionPool(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.query = nn.Linear(hidden, 1)

    def forward(self, states):
        weight = self.query(states).softmax(dim=1)
        return (weight * states).sum(dim=1)


class IntentModel(nn.Module):
    def __init__(self, config, n_intents, samples=4):
        super().__init__()
        self.encoder = BertModel(config, add_pooling_layer=False)
        self.pool = AttentionPool(config.hidden_size)
        self.drops = nn.ModuleList(nn.Dropout(0.1 + 0.1 * k) for k in range(samples))
        self.classifier = nn.Linear(config.hidden_size, n_intents)

    def forward(self, input_ids, attention_mask=None, labels=None):
        states = self.encoder(input_ids, attention_mask=attention_mask).last_hidden_state
        pooled = self.pool(states)
        votes = [self.classifier(drop(pooled)) for drop in self.drops]
        return SequenceClassifierOutput(logits=torch.stack(votes).mean(dim=0))


class IntentTrainer(Trainer):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.02)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = self.criterion(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


class Progress(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print("epoch %.0f eval accuracy %.4f" % (state.epoch, metrics["eval_accuracy"]))


def accuracy(p):
    order = np.argsort(-p.predictions, axis=-1)
    return {"accuracy": float((order[:, 0] == p.label_ids).mean()),
            "top3": float((order[:, :3] == p.label_ids[:, None]).any(1).mean())}


def main():
    train, test = Utterances(3000), Utterances(600)
    config = BertConfig(vocab_size=WORDS + 1, hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=LENGTH)
    args = TrainingArguments(
        output_dir="out", num_train_epochs=4, learning_rate=2e-3, warmup_ratio=0.1,
        per_device_train_batch_size=64, per_device_eval_batch_size=300, label_names=["labels"],
        eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
        report_to="none", disable_tqdm=True)
    trainer = IntentTrainer(model=IntentModel(config, N_INTENTS), args=args, train_dataset=train,
                            eval_dataset=test, compute_metrics=accuracy, callbacks=[Progress()])
    trainer.train()
    out = trainer.evaluate()
    print("test loss %.4f accuracy %.4f top3 %.4f" % (
        out["eval_loss"], out["eval_accuracy"], out["eval_top3"]))


if __name__ == "__main__":
    main()
