import tempfile

import numpy as np
import torch
from datasets import Dataset, concatenate_datasets
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

PAGES = ["home", "list", "item", "cart", "pay", "help", "search", "exit"]
N = len(PAGES)
STEPS = 24
rng = np.random.default_rng(40)


def transition(bias):
    m = rng.dirichlet(np.full(N, 0.6), size=N)
    for a, b in bias:
        m[a] = 0.5 * m[a]
        m[a, b] += 0.5
    return m


CHAINS = {
    0: transition([(0, 6), (6, 1), (1, 2)]),
    1: transition([(2, 3), (3, 4), (0, 2)]),
    2: transition([(0, 5), (5, 0), (2, 5)]),
    3: transition([(0, 7), (1, 7), (7, 1)]),
}


def sessions(kind, n):
    chain, rows = CHAINS[kind], []
    for _ in range(n):
        path = [rng.integers(N)]
        while len(path) < STEPS:
            path.append(rng.choice(N, p=chain[path[-1]]))
        rows.append([int(p) for p in path])
    return Dataset.from_dict({"input_ids": rows, "labels": [kind] * n})


def split_by_kind(n_train, n_test):
    train = concatenate_datasets([sessions(k, n_train) for k in CHAINS])
    test = concatenate_datasets([sessions(k, n_test) for k in CHAINS])
    return train, test


class SessionTrainer(Trainer):
    def create_optimizer(self):
        if self.optimizer is None:
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.args.learning_rate,
                                             momentum=0.9, nesterov=True)
        return self.optimizer


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(1) == p.label_ids).mean())}


def main():
    set_seed(40)
    train, test = split_by_kind(400, 100)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=N, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=STEPS, type_vocab_size=1, num_labels=len(CHAINS), pad_token_id=None, initializer_range=0.1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(output_dir=tmp, num_train_epochs=8, learning_rate=0.05, warmup_ratio=0.1,
                                 per_device_train_batch_size=32, per_device_eval_batch_size=100,
                                 eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
                                 report_to="none", disable_tqdm=True)
        trainer = SessionTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                                 compute_metrics=accuracy)
        trainer.train()
        r = trainer.evaluate()
    print(f"test accuracy {r['eval_accuracy']:.3f}  loss {r['eval_loss']:.3f}  chance {1 / len(CHAINS):.3f}")


if __name__ == "__main__":
    main()
