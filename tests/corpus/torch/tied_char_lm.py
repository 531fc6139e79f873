"""Character model of scikit-learn's dataset descriptions: tied embeddings, label smoothing, Trainer."""
import math
import torch
import torch.nn.functional as F
from sklearn import datasets as skd
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

CONTEXT = 48


def read_text():
    loaders = [skd.load_breast_cancer, skd.load_diabetes, skd.load_iris, skd.load_wine, skd.load_digits]
    return [fn().DESCR.lower() for fn in loaders]


class Blocks(torch.utils.data.Dataset):
    """Windows of CONTEXT + 1 characters; inputs and targets are already one character apart."""

    def __init__(self, ids, stride):
        self.ids, self.stride = ids, stride

    def __len__(self):
        return (len(self.ids) - CONTEXT - 1) // self.stride

    def __getitem__(self, i):
        w = self.ids[i * self.stride:i * self.stride + CONTEXT + 1]
        return {"chars": w[:-1], "labels": w[1:]}


class TiedCharLM(nn.Module):
    def __init__(self, vocab, dim=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        nn.init.normal_(self.emb.weight, std=dim ** -0.5)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.decoder = nn.Linear(dim, vocab)
        self.decoder.weight = self.emb.weight

    def forward(self, chars, labels=None):
        h, _ = self.rnn(self.drop(self.emb(chars) * self.emb.embedding_dim ** 0.5))
        logits = self.decoder(self.drop(h))
        out = {"logits": logits}
        if labels is not None:
            smoothing = 0.05 if self.training else 0.0
            out["loss"] = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing)
        return out


def keep_argmax(logits, labels):
    return logits.argmax(-1)


def metrics(p):
    return {"char_acc": float((p.predictions == p.label_ids).mean())}


def main():
    set_seed(6)
    texts = read_text()
    chars = sorted(set("".join(texts)))
    stoi = {c: i for i, c in enumerate(chars)}
    train_text = "".join(t[:int(0.9 * len(t))] for t in texts)
    valid_text = "".join(t[int(0.9 * len(t)):] for t in texts)
    enc = lambda t: torch.tensor([stoi[c] for c in t])
    train_ids, valid_ids = enc(train_text), enc(valid_text)
    train, valid = Blocks(train_ids, 12), Blocks(valid_ids, CONTEXT)

    args = TrainingArguments(
        output_dir="out/charlm", num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=6e-3, lr_scheduler_type="cosine", warmup_steps=20,
        max_grad_norm=1.0, eval_strategy="epoch", save_strategy="no", logging_steps=25,
        report_to="none", disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=TiedCharLM(len(chars)), args=args, train_dataset=train, eval_dataset=valid,
                      compute_metrics=metrics, preprocess_logits_for_metrics=keep_argmax)
    trainer.train()
    res = trainer.evaluate()

    freq = torch.bincount(train_ids, minlength=len(chars)).float() + 1
    unigram = -(freq / freq.sum()).log()[valid_ids].mean().item()
    print(f"held-out bits per character {res['eval_loss'] / math.log(2):.3f} "
          f"(letter frequencies {unigram / math.log(2):.3f}); next character {res['eval_char_acc']:.3f}")


if __name__ == "__main__":
    main()
