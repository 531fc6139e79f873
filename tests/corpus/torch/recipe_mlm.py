"""Masked language model on short recipe sentences (own collator, cosine schedule)."""
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

DISHES = {
    "soup": (["carrot", "leek", "potato"], "pot", ["simmer", "stir"]),
    "cake": (["flour", "sugar", "butter"], "oven", ["whisk", "bake"]),
    "salad": (["lettuce", "tomato", "cucumber"], "bowl", ["chop", "toss"]),
    "curry": (["lentils", "ginger", "coconut"], "pan", ["fry", "braise"]),
    "bread": (["yeast", "rye", "salt"], "tin", ["knead", "proof"]),
}
PAD, CLS, SEP, MASK = 0, 1, 2, 3


def sentence(rng):
    dish = rng.choice(sorted(DISHES))
    things, tool, verbs = DISHES[dish]
    a, b = rng.sample(things, 2)
    text = rng.choice([
        f"for the {dish} {verbs[0]} {a} and {b} then {verbs[1]} in the {tool}",
        f"{verbs[0]} the {a} with {b} in a {tool} to make {dish}",
        f"a good {dish} needs {a} so {verbs[1]} it in the {tool}",
    ])
    return text.split()


def build_vocab(texts):
    vocab = {"[PAD]": PAD, "[CLS]": CLS, "[SEP]": SEP, "[MASK]": MASK}
    for words in texts:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


class MaskingCollator:
    def __init__(self, rate=0.2, seed=0):
        self.rate = rate
        self.gen = torch.Generator().manual_seed(seed)

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        ids = torch.full((len(rows), width), PAD)
        for i, r in enumerate(rows):
            ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        attention = (ids != PAD).long()
        chosen = (torch.rand(ids.shape, generator=self.gen) < self.rate) & (ids > MASK)
        labels = ids.clone()
        labels[~chosen] = -100
        ids.masked_fill(chosen, MASK)
        return {"input_ids": ids, "attention_mask": attention, "labels": labels}


def keep_argmax(logits, labels):
    return logits.argmax(-1)


def masked_accuracy(pred):
    use = pred.label_ids != -100
    return {"masked_accuracy": float((pred.predictions[use] == pred.label_ids[use]).mean())}


def fill_in(model, sentences, vocab):
    """Blank the name of the dish, the tool or an ingredient and let the model fill the gap."""
    content = {w for d, (things, tool, _) in DISHES.items() for w in (d, tool, *things)}
    hits = []
    model.eval()
    for words in sentences:
        places = [i for i, w in enumerate(words) if w in content]
        i = places[len(words) % len(places)]
        ids = torch.tensor([[CLS, *(vocab[w] for w in words), SEP]])
        gold, ids[0, i + 1] = ids[0, i + 1].item(), MASK
        with torch.no_grad():
            hits.append(model(input_ids=ids).logits[0, i + 1].argmax().item() == gold)
    return float(np.mean(hits))


def main():
    set_seed(8)
    rng = random.Random(8)
    texts = [sentence(rng) for _ in range(2300)]
    vocab = build_vocab(texts)
    encoded = [{"input_ids": [CLS, *(vocab[w] for w in t), SEP]} for t in texts]
    train, held_out = Dataset.from_list(encoded[:2000]), Dataset.from_list(encoded[2000:])
    model = BertForMaskedLM(BertConfig(
        vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=32))
    args = TrainingArguments(
        "out", num_train_epochs=8, per_device_train_batch_size=32, learning_rate=2e-3,
        lr_scheduler_type="cosine", warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch",
        save_strategy="no", logging_strategy="epoch", report_to=[], disable_tqdm=True, use_cpu=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=held_out,
                      data_collator=MaskingCollator(), compute_metrics=masked_accuracy,
                      preprocess_logits_for_metrics=keep_argmax)
    trainer.train()
    final = trainer.evaluate()
    print(f"eval loss {final['eval_loss']:.4f}  masked accuracy {final['eval_masked_accuracy']:.4f}")
    print(f"gap filling on held-out sentences {fill_in(model, texts[2000:], vocab):.4f}")


if __name__ == "__main__":
    main()
