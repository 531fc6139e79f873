"""Two phases: masked pretraining of an encoder on melodies, then a linear probe for the key."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import BertConfig, BertForMaskedLM

LENGTH, NOTES, MASK = 16, 24, 24
SCALE = [0, 2, 4, 5, 7, 9, 11]
KEYS = [0, 3, 6, 9]


def melodies(n, gen):
    key = torch.randint(0, len(KEYS), (n,), generator=gen)
    degree = torch.randint(0, len(SCALE), (n, LENGTH), generator=gen)
    octave = torch.randint(0, 2, (n, LENGTH), generator=gen) * 12
    notes = (torch.tensor(SCALE)[degree] + torch.tensor(KEYS)[key][:, None]) % 12 + octave
    off_key = torch.rand(n, LENGTH, generator=gen) < 0.15
    notes[off_key] = torch.randint(0, NOTES, (int(off_key.sum()),), generator=gen)
    return notes, key


def hide(notes, gen):
    chosen = torch.rand(notes.shape, generator=gen) < 0.2
    labels = torch.where(chosen, notes, torch.full_like(notes, -100))
    return torch.where(chosen, torch.full_like(notes, MASK), notes), labels


def pretrain(model, notes, gen, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(notes), batch_size=64, shuffle=True, generator=gen)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for (batch,) in loader:
            inputs, labels = hide(batch, gen)
            loss = model(input_ids=inputs, labels=labels).loss
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"pretrain {epoch} loss {total / len(loader):.4f}")


@torch.no_grad()
def embed(encoder, notes):
    encoder.eval()
    return torch.cat([encoder(input_ids=part).last_hidden_state.mean(1) for part in notes.split(500)])


def probe(train_z, train_y, test_z, test_y, steps=200):
    head = nn.Linear(train_z.size(1), len(KEYS))
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    opt = torch.optim.SGD(head.parameters(), lr=0.5, momentum=0.9)
    mu, sd = train_z.mean(0), train_z.std(0) + 1e-6
    for _ in range(steps):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(head((train_z - mu) / sd), train_y)
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (head((test_z - mu) / sd).argmax(1) == test_y).float().mean().item()
    return loss.item(), acc


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    pool, _ = melodies(3000, gen)
    few, few_y = melodies(300, gen)
    test, test_y = melodies(1000, gen)
    model = BertForMaskedLM(BertConfig(
        vocab_size=NOTES + 1, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=LENGTH, pad_token_id=None,
    ))
    pretrain(model, pool, gen, epochs=6)
    encoder = model.bert
    for p in encoder.parameters():
        p.requires_grad = False
    loss, acc = probe(embed(encoder, few), few_y, embed(encoder, test), test_y)
    base = test_y.bincount().max().item() / len(test_y)
    print(f"probe loss {loss:.4f} test accuracy {acc:.3f} (majority {base:.3f})")


if __name__ == "__main__":
    main()
