"""Masked-language pretraining of a small BERT on carved inscriptions: tied head, checkpointed layers, growing batches."""
import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(23)
PAD, CLS, SEP, MASK, FIRST = 0, 1, 2, 3, 4
RUNES = 12
LENGTH = 14


def inscriptions(n):
    start = torch.randint(0, RUNES, (n, 1))
    stride = torch.randint(1, 3, (n, 1))
    ids = (start + stride * torch.arange(LENGTH)) % RUNES + FIRST
    lengths = torch.randint(9, LENGTH + 1, (n, 1))
    ids[torch.arange(LENGTH)[None] >= lengths] = PAD
    ids = torch.cat([torch.full((n, 1), CLS), ids, torch.full((n, 1), PAD)], 1)
    ids.scatter_(1, lengths + 1, SEP)
    return ids


def mask_tokens(ids, rate=0.15):
    chosen = (torch.rand(ids.shape) < rate) & (ids >= FIRST)
    labels = ids.masked_fill(~chosen, -100)
    roll = torch.rand(ids.shape)
    inputs = ids.masked_fill(chosen & (roll < 0.8), MASK)
    noise = torch.randint(FIRST, FIRST + RUNES, ids.shape)
    return torch.where(chosen & (roll > 0.9), noise, inputs), labels


config = BertConfig(vocab_size=FIRST + RUNES, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=LENGTH + 2, pad_token_id=PAD,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = BertForMaskedLM(config)
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.98), weight_decay=0.01)
STEPS, ACCUM = 700, 2
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=STEPS, pct_start=0.1)
held_out = inscriptions(400)

for step in range(STEPS):
    model.train()
    size = 16 if step < 100 else 32
    batches = [mask_tokens(inscriptions(size)) for _ in range(ACCUM)]
    count = sum((labels != -100).sum() for _, labels in batches)
    loss_sum = 0.0
    for inputs, labels in batches:
        out = model(input_ids=inputs, attention_mask=(inputs != PAD).long())
        loss = torch.nn.functional.cross_entropy(out.logits.flatten(0, 1), labels.flatten(), reduction="sum") / count
        loss.backward()
        loss_sum += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    if step % 100 == 99:
        model.eval()
        with torch.no_grad():
            inputs, labels = mask_tokens(held_out)
            logits = model(input_ids=inputs, attention_mask=(inputs != PAD).long()).logits
        where = labels != -100
        acc = (logits.argmax(-1) == labels)[where].float().mean()
        print(f"step {step + 1} loss {loss_sum:.3f} masked accuracy {acc:.3f}")
