"""Digit encoder with a domain critic: two losses on one graph, encoder and critic have their own optimizers."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


def pairs(images, labels, gen):
    """Every image is seen in one of two styles: original or inverted."""
    style = torch.randint(0, 2, (len(images),), generator=gen)
    flipped = torch.where(style[:, None].bool(), -images, images)
    return flipped + 0.1 * torch.randn(images.shape, generator=gen), labels, style.float()


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=30)
    cli.add_argument("--batch", type=int, default=64)
    cli.add_argument("--weight", type=float, default=0.3)
    opts = cli.parse_args()

    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(14)
    x, y = load_digits(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x / 8.0 - 1.0, y, test_size=0.25, stratify=y, random_state=14)
    x_tr, x_te = (torch.tensor(a, dtype=torch.float32) for a in (x_tr, x_te))
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU())
    classifier = nn.Linear(32, 10)
    critic = nn.Sequential(nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    main_opt = torch.optim.Adam([*encoder.parameters(), *classifier.parameters()], lr=2e-3)
    critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)

    for epoch in range(opts.epochs):
        xs, ys, ss = pairs(x_tr, y_tr, gen)
        sums = torch.zeros(3)
        for idx in torch.randperm(len(xs), generator=gen).split(opts.batch):
            code = encoder(xs[idx])

            critic_loss = F.binary_cross_entropy_with_logits(critic(code.detach()).squeeze(1), ss[idx])
            critic_opt.zero_grad()
            critic_loss.backward()
            critic_opt.step()

            for p in critic.parameters():
                p.requires_grad_(False)
            class_loss = F.cross_entropy(classifier(code), ys[idx])
            fooled = torch.sigmoid(critic(code).squeeze(1))
            confusion = F.binary_cross_entropy(fooled, torch.full_like(fooled, 0.5))
            main_opt.zero_grad()
            class_loss.backward(retain_graph=True)
            (opts.weight * confusion).backward()
            main_opt.step()
            for p in critic.parameters():
                p.requires_grad_(True)
            sums += torch.tensor([class_loss.item(), critic_loss.item(), confusion.item()]) * len(idx)
        if epoch % 5 == 4:
            print("epoch %2d class %.4f critic %.4f confusion %.4f" % (epoch, *(sums / len(xs))))

    encoder.eval(), classifier.eval()
    xs, ys, ss = pairs(x_te, y_te, gen)
    with torch.no_grad():
        logits = classifier(encoder(xs))
        guess = (critic(encoder(xs)).squeeze(1) > 0).float()
    print("test loss %.4f accuracy %.4f style recognised %.4f" % (
        F.cross_entropy(logits, ys).item(), (logits.argmax(1) == ys).float().mean().item(),
        (guess == ss).float().mean().item()))


if __name__ == "__main__":
    main()
