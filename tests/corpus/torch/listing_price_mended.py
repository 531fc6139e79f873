"""Rent from an advert text plus a few numbers: transformer encoder joined with a numeric branch."""
import os
os.environ["USE_TF"] = "0"
import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import BertConfig, BertModel, BertPreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

WORDS = "[PAD] sunny balcony garden quiet central renovated old dark noisy basement lift view flat room rent".split()
EFFECT = {"sunny": 0.5, "balcony": 0.4, "garden": 0.6, "central": 0.7, "renovated": 0.5,
          "old": -0.4, "dark": -0.6, "noisy": -0.5, "basement": -0.8}


def adverts(n, seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, len(WORDS), size=(n, 8))
    worth = np.array([EFFECT.get(w, 0.0) for w in WORDS])[ids].sum(1)
    area = rng.normal(0, 1, n)
    floor = rng.normal(0, 1, n)
    year = rng.normal(0, 1, n)
    price = 0.7 * worth + 1.5 * area + 0.4 * floor - 0.5 * year + rng.normal(0, 0.2, n)
    numbers = np.stack([area, floor, year], 1)
    return Dataset.from_dict({
        "input_ids": ids.tolist(),
        "attention_mask": np.ones_like(ids).tolist(),
        "numbers": numbers.astype("float32").tolist(),
        "labels": price.astype("float32").tolist(),
    })


class AdvertModel(BertPreTrainedModel):
    def __init__(self, config, n_numbers=3):
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.numeric = nn.Sequential(nn.Linear(n_numbers, 16), nn.ReLU())
        self.out = nn.Linear(config.hidden_size + 16, 1)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, labels=None, **extra):
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        text = hidden.mean(dim=1)
        numbers = extra.get("numbers")
        if numbers is None:
            side = text.new_zeros(len(text), 16)
        else:
            side = self.numeric(numbers)
        price = self.out(torch.cat([text, side], dim=1)).squeeze(-1)
        loss = nn.functional.mse_loss(price, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=price)


def compute_metrics(pred):
    err = pred.predictions - pred.label_ids
    return {"rmse": float(np.sqrt((err ** 2).mean())),
            "r2": float(1 - (err ** 2).mean() / pred.label_ids.var())}


def arguments():
    return TrainingArguments(
        output_dir="out",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        learning_rate=3e-3,
        warmup_ratio=0.1,
        eval_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        logging_steps=50,
        report_to=[],
        disable_tqdm=True,
    )


if __name__ == "__main__":
    set_seed(0)
    train, test = adverts(1000, 1), adverts(300, 2)
    cfg = BertConfig(vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                     intermediate_size=64, max_position_embeddings=16, pad_token_id=0)
    trainer = Trainer(model=AdvertModel(cfg), args=arguments(), train_dataset=train,
                      eval_dataset=test, compute_metrics=compute_metrics)
    trainer.train()
    res = trainer.evaluate()
    spread = float(np.std(test["labels"]))
    print(f"test rmse {res['eval_rmse']:.3f} (spread of the prices {spread:.3f})  r2 {res['eval_r2']:.3f}")
