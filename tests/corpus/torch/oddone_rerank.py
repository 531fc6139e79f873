"""Listwise re-ranking with cross-candidate attention (after SetRank): the editor's pick is the entry
that covers another subject than the rest of the list."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, PreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

SUBJECTS, WORDS, COMMON, K, LEN = 6, 10, 20, 6, 8
VOCAB = 2 + COMMON + SUBJECTS * WORDS


class Lists(Dataset):
    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.x = np.ones((n, K, LEN), dtype=np.int64)
        self.y = g.integers(0, K, size=n)
        for i in range(n):
            main, odd = g.choice(SUBJECTS, size=2, replace=False)
            for k in range(K):
                s = odd if k == self.y[i] else main
                own = 2 + COMMON + s * WORDS + g.integers(0, WORDS, size=4)
                rest = 2 + g.integers(0, COMMON, size=LEN - 5)
                self.x[i, k, 1:] = g.permutation(np.concatenate([own, rest]))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"candidates": self.x[i], "pick": int(self.y[i])}


@dataclass
class ListCollator:
    def __call__(self, feats):
        cand = torch.as_tensor(np.stack([f["candidates"] for f in feats]))
        return {"input_ids": cand, "labels": torch.tensor([f["pick"] for f in feats])}


class ListConfig(BertConfig):
    model_type = "list_ranker"

    def __init__(self, set_layers=2, **kw):
        super().__init__(**kw)
        self.set_layers = set_layers


class ListRanker(PreTrainedModel):
    config_class = ListConfig

    def __init__(self, config):
        super().__init__(config)
        self.encoder = BertModel(config, add_pooling_layer=False)
        d = config.hidden_size
        layer = nn.TransformerEncoderLayer(d, 4, dim_feedforward=2 * d, dropout=0.0)
        self.mixer = nn.TransformerEncoder(layer, config.set_layers)
        self.score = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, 1))
        self.post_init()

    def forward(self, input_ids, labels=None):
        b, k, t = input_ids.shape
        h = self.encoder(input_ids.view(b * k, t)).last_hidden_state.mean(1)
        h = self.mixer(h.view(b, k, -1))
        logits = self.score(h).squeeze(-1)
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def ranking_metrics(p):
    order = np.argsort(-p.predictions, axis=1)
    rank = 1 + np.argmax(order == p.label_ids[:, None], axis=1)
    return {"mrr": float((1 / rank).mean()), "hit@1": float((rank == 1).mean())}


def main():
    set_seed(31)
    cfg = ListConfig(vocab_size=VOCAB, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                     intermediate_size=96, max_position_embeddings=LEN, hidden_dropout_prob=0.0,
                     attention_probs_dropout_prob=0.0)
    model = ListRanker(cfg)
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(tmp, num_train_epochs=10, per_device_train_batch_size=32,
                                 per_device_eval_batch_size=64, learning_rate=1.5e-3, warmup_ratio=0.1,
                                 lr_scheduler_type="cosine", remove_unused_columns=False, logging_steps=60,
                                 eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True)
        trainer = Trainer(model=model, args=args, train_dataset=Lists(1800, 0), eval_dataset=Lists(320, 1),
                          data_collator=ListCollator(), compute_metrics=ranking_metrics)
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
