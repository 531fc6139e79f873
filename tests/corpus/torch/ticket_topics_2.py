"""Rare topics of support tickets: bag of words, ten labels, most of them almost always 0."""
import numpy as np
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import average_precision_score, f1_score
from torch import nn

TOPICS = {
    "refund": "refund money back charge".split(), "login": "password login account locked".split(),
    "crash": "crash freeze error restart".split(), "delivery": "parcel courier late address".split(),
    "invoice": "invoice vat billing receipt".split(), "privacy": "delete data consent gdpr".split(),
    "upgrade": "upgrade plan premium seats".split(), "mobile": "android iphone app tablet".split(),
    "api": "token endpoint webhook json".split(), "praise": "thanks great love helpful".split(),
}
RATES = [0.05, 0.06, 0.05, 0.04, 0.03, 0.03, 0.04, 0.05, 0.03, 0.04]
FILLER = ("hello team please can you i my the is it was not when today again need help with for "
          "still since yesterday order product page try after before question about").split()


def write_tickets(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, len(TOPICS))) < RATES).astype("float32")
    texts = []
    for row in y:
        words = list(rng.choice(FILLER, rng.integers(8, 20)))
        for on, vocab in zip(row, TOPICS.values()):
            if on:
                words += list(rng.choice(vocab, rng.integers(1, 4)))
            elif rng.random() < 0.01:
                words.append(rng.choice(vocab))
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, y


def prior_logits(y):
    p = torch.from_numpy(y.mean(0)).clamp(1e-3, 1 - 1e-3)
    return torch.log(p / (1 - p))


def build(n_words, y_train, hidden=64):
    head = nn.Linear(hidden, y_train.shape[1])
    nn.init.normal_(head.weight, std=0.01)
    head.bias.data = prior_logits(y_train)
    return nn.Sequential(nn.Linear(n_words, hidden), nn.ReLU(), nn.Dropout(0.2), head)


def step(model, opt, x, y):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def train(model, x, y, epochs=15, batch=64):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        losses = [step(model, opt, x[i], y[i]) for i in torch.randperm(len(x)).split(batch)]
        if epoch == 0:
            print(f"first batch loss {losses[0]:.4f}")
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} loss {np.mean(losses):.4f}")


def scores(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    chosen = (logits > 0).numpy()
    return {"macro_f1": f1_score(y, chosen, average="macro", zero_division=0),
            "macro_ap": average_precision_score(y, logits.numpy(), average="macro"),
            "all_zero_accuracy": float((y == 0).mean()),
            "label_accuracy": float((chosen == y).mean())}


def main():
    torch.manual_seed(6)
    texts, y = write_tickets(5000, 6)
    cut = 4000
    vec = CountVectorizer(binary=True).fit(texts[:cut])
    x = torch.from_numpy(vec.transform(texts).toarray().astype("float32"))
    model = build(x.shape[1], y[:cut])
    train(model, x[:cut], torch.from_numpy(y[:cut]))
    for k, v in scores(model, x[cut:], y[cut:]).items():
        print(f"{k} {v:.4f}")


if __name__ == "__main__":
    main()
