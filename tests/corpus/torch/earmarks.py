"""Which farm does the animal come from? Ear-tag readings, a small network, early stopping, a report at the end."""
import argparse
import logging
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import accuracy_score, classification_report
from torch import nn
from torch.utils.data import DataLoader
from transformers import (EarlyStoppingCallback, PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments,
                          default_data_collator, set_seed)
from transformers.modeling_outputs import SequenceClassifierOutput

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("earmarks")
FARMS = ["north", "mill", "ridge", "lake"]


class TagConfig(PretrainedConfig):
    model_type = "ear_tag"

    def __init__(self, breeds=9, readings=6, width=48, num_labels=4, **kwargs):
        super().__init__(num_labels=num_labels, **kwargs)
        self.breeds, self.readings, self.width = breeds, readings, width


class TagModel(PreTrainedModel):
    config_class = TagConfig

    def __init__(self, config):
        super().__init__(config)
        self.breed = nn.Embedding(config.breeds, 8)
        self.body = nn.Sequential(
            nn.Linear(config.readings + 8, config.width), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(config.width, config.width), nn.GELU())
        self.out = nn.Linear(config.width, config.num_labels)
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, readings, breed, labels=None):
        logits = self.out(self.body(torch.cat([readings, self.breed(breed)], dim=-1)))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def make_data(n, seed):
    g = np.random.default_rng(seed)
    farm = g.integers(0, len(FARMS), n)
    breed = (farm * 2 + g.integers(0, 3, n)) % 9
    centres = np.random.default_rng(0).normal(0, 1.4, (len(FARMS), 6))
    readings = centres[farm] + g.normal(0, 1, (n, 6))
    return Dataset.from_dict({"readings": readings.astype("float32"), "breed": breed, "labels": farm})


class TagTrainer(Trainer):
    """Plain loaders in this process: the rows are tiny and workers only slow it down."""

    def loader(self, dataset, batch_size):
        return DataLoader(dataset, batch_size=batch_size, shuffle=True, collate_fn=self.data_collator)

    def get_train_dataloader(self):
        return self.loader(self.train_dataset, self.args.train_batch_size)

    def get_eval_dataloader(self, eval_dataset=None):
        return self.loader(eval_dataset if eval_dataset is not None else self.eval_dataset, self.args.eval_batch_size)

    def get_test_dataloader(self, test_dataset):
        return self.loader(test_dataset, self.args.eval_batch_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1600)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--patience", type=int, default=3)
    opts = parser.parse_args()
    set_seed(13)

    train, valid, test = make_data(opts.rows, 1), make_data(300, 2), make_data(400, 3)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder, num_train_epochs=opts.epochs, learning_rate=2e-3, per_device_train_batch_size=32,
            per_device_eval_batch_size=64, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
            load_best_model_at_end=True, metric_for_best_model="eval_loss", logging_strategy="epoch",
            report_to="none", disable_tqdm=True, seed=13)
        trainer = TagTrainer(
            model=TagModel(TagConfig()), args=args, train_dataset=train, eval_dataset=valid,
            data_collator=default_data_collator, callbacks=[EarlyStoppingCallback(opts.patience)])
        trainer.train()
        log.info("best checkpoint: loss %.3f", trainer.state.best_metric)

        predicted = trainer.predict(test).predictions.argmax(-1)
    truth = np.array(test["labels"])
    log.info("test accuracy %.3f", accuracy_score(truth, predicted))
    print(classification_report(truth, predicted, target_names=FARMS, zero_division=0))


if __name__ == "__main__":
    main()
