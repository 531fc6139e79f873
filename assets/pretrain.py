"""Pretrain the embedded DistilBERT: ``python assets/pretrain.py`` rewrites ``assets/distilbert-mini``.

Two objectives at once, on text of the generator in ``make_nli.py`` and never on the texts of its splits: masked words, and how the
second text relates to the first (follows, open, contradicted). The second one goes through ``pre_classifier``, the body of DistilBERT's
classification head, which is saved with the encoder, as BERT's pooler is; the last layer, ``classifier``, is always drawn anew.
At the end the weights are rewritten so that they bear the learning rates that a DistilBERT of full width bears (`at_width`).
Same seed and same library versions: the same behaviour; the bytes depend on the machine.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import torch
from make_nli import FACT_COUNTS, STATION, VILLAGE, Dice, build, order, premise, sentence, statement, subject_of, write_order
from tokenizers import BertWordPieceTokenizer
from transformers import AutoTokenizer, DistilBertConfig, DistilBertForMaskedLM

FOLDER = Path(__file__).resolve().parent / "distilbert-mini"
SEED = 1986
POSITIONS = 512
VOCABULARY = 2000
RELATIONS = 3
FULL_WIDTH = 768  # of distilbert-base
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, MASK = SPECIAL.index("[PAD]"), SPECIAL.index("[MASK]")
TOKENIZER_CONFIG = {
    "tokenizer_class": "DistilBertTokenizer",
    "model_max_length": POSITIONS,
    "do_lower_case": True,
    "strip_accents": None,
    "tokenize_chinese_chars": True,
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


class Passages:
    """An endless source of text pairs, none of which has a text of the fine-tuning splits."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.longest = len(FACT_COUNTS)
        self.forbidden = {text for rows in build().values() for row in rows for text in row[:2]}

    def pair(self) -> tuple[str, str, int]:
        """Two texts and their relation: 0 the second follows, 1 it is left open, 2 it is contradicted."""
        while True:
            genre = VILLAGE if self.dice.chance(0.6) else STATION
            subject = subject_of(self.dice, genre)
            said = statement(self.dice, genre, subject)
            relation = self.dice.below(RELATIONS)
            fact = (self.dice.pick(said.entailed_by), None, self.dice.pick(said.contradicted_by))[relation]
            first = premise(self.dice, genre, subject, said.topic, fact, FACT_COUNTS[: self.longest])
            second = sentence(f"the {subject} {said.claim}")
            if first not in self.forbidden and second not in self.forbidden:
                return first, second, relation

    def order(self) -> str:
        """An order, whose words the vocabulary needs too."""
        genre = VILLAGE if self.dice.chance(0.6) else STATION
        return write_order(self.dice, genre, order(self.dice, genre))


def make_tokenizer(folder: Path, passages: Passages):
    """Train the WordPiece vocabulary and save the tokenizer."""
    pieces = BertWordPieceTokenizer(lowercase=True)
    texts = (text for _ in range(12_000) for text in (*passages.pair()[:2], passages.order()))
    pieces.train_from_iterator(texts, vocab_size=VOCABULARY, min_frequency=2, special_tokens=list(SPECIAL), show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    pieces.save_model(str(folder))
    BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER_CONFIG, indent=2) + "\n")
    return AutoTokenizer.from_pretrained(folder)


def batches(passages: Passages, tokenizer, size: int, generator: torch.Generator):
    """Endless batches (inputs, mask, targets, relation), pairs of similar length together.

    ``targets`` is int64[batch, tokens] with -100 where nothing is to be predicted. Every fourth batch is pairs of orders, whose
    relation is -100: words only.
    """
    pieces = tokenizer.backend_tokenizer
    words = len(tokenizer)
    while True:
        rows = [passages.pair() for _ in range(12 * size)]
        orders = [(passages.order(), passages.order(), -100) for _ in range(4 * size)]
        chunks = []
        for kind in (rows, orders):
            encoded = pieces.encode_batch([(first, second) for first, second, _ in kind])
            kept = sorted(((code.ids, row[2]) for code, row in zip(encoded, kind, strict=True)), key=lambda item: len(item[0]))
            chunks += [kept[start : start + size] for start in range(0, len(kept), size)]
        for index in torch.randperm(len(chunks), generator=generator).tolist():
            chunk = chunks[index]
            width = len(chunk[-1][0])
            ids = torch.tensor([row + [PAD] * (width - len(row)) for row, _ in chunk])
            chosen = (torch.rand(ids.shape, generator=generator) < 0.12) & (ids > MASK)
            targets = torch.where(chosen, ids, -100)
            fate = torch.rand(ids.shape, generator=generator)
            noise = torch.randint(MASK + 1, words, ids.shape, generator=generator)
            inputs = torch.where(chosen & (fate < 0.8), MASK, ids)
            inputs = torch.where(chosen & (fate >= 0.9), noise, inputs)
            yield inputs, (ids != PAD).long(), targets, torch.tensor([relation for _, relation in chunk])


def at_width(weights: dict[str, torch.Tensor], factor: float) -> dict[str, torch.Tensor]:
    """The same function from other weights, which a step of Adam moves ``factor`` times as far in relation to what they are.

    Adam moves every weight by about the learning rate, so a layer's output moves in proportion to the number of its inputs: a model
    128 wide shrugs off a rate that ruins one 768 wide. The stream between the blocks is therefore made ``factor`` times larger (by
    the gains of its layer norms) and all that reads from it smaller; what is added to it grows along. A norm's input may have any
    scale: the embeddings are made smaller too, and the word head, which multiplies with them, takes that back.
    """
    larger = ("layer_norm.weight", "layer_norm.bias", "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias",
              "out_lin.weight", "out_lin.bias", "lin2.weight", "lin2.bias")
    smaller = ("q_lin.weight", "k_lin.weight", "v_lin.weight", "lin1.weight", "pre_classifier.weight", "vocab_transform.weight",
               "word_embeddings.weight", "position_embeddings.weight")
    scale = dict.fromkeys(larger, factor) | dict.fromkeys(smaller, 1 / factor)
    return {name: tensor * next((scale[end] for end in scale if name.endswith(end)), 1.0) for name, tensor in weights.items()}


def save(model: DistilBertForMaskedLM, pre_classifier: torch.nn.Linear, folder: Path) -> None:
    """Save the encoder, its word head and the classification head's body, under the names that transformers gives them."""
    weights = model.state_dict() | {f"pre_classifier.{name}": tensor for name, tensor in pre_classifier.state_dict().items()}
    del weights["vocab_projector.weight"]  # it is the word embeddings, and is tied to them when the model is loaded
    model.save_pretrained(folder, state_dict=at_width(weights, FULL_WIDTH / model.config.dim))


def main() -> None:
    """Train tokenizer and model, and save both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--steps", type=int, default=14_000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--hidden-dim", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=8e-4)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--report", type=int, default=200)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    tokenizer = make_tokenizer(args.output, Passages(SEED + 1))
    config = DistilBertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=POSITIONS, n_layers=args.layers, n_heads=args.heads,
        dim=args.dim, hidden_dim=args.hidden_dim, pad_token_id=PAD,
    )
    model = DistilBertForMaskedLM(config).to(args.device)
    pre_classifier = torch.nn.Linear(args.dim, args.dim).to(args.device)
    relation_head = torch.nn.Linear(args.dim, RELATIONS).to(args.device)
    parameters = [*model.parameters(), *pre_classifier.parameters(), *relation_head.parameters()]
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} pieces", flush=True)
    matrices = [p for p in parameters if p.dim() > 1]
    vectors = [p for p in parameters if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": args.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.learning_rate, betas=(0.9, 0.98))
    warm_up = max(1, min(500, args.steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm_up, max(0.02, 0.5 + 0.5 * math.cos(math.pi * step / args.steps))),
    )
    model.train()
    passages = Passages(args.seed + 2)
    source = batches(passages, tokenizer, args.batch_size, generator)
    start, sums, count = time.perf_counter(), [0.0] * 3, [0] * 2
    for step in range(1, args.steps + 1):
        # Short texts first: to find the fact that matters among many is learnt last.
        passages.longest = min(len(FACT_COUNTS), 1 + int(2 * step / args.steps * len(FACT_COUNTS)))
        inputs, mask, targets, relation = (tensor.to(args.device) for tensor in next(source))
        hidden = model.distilbert(input_ids=inputs, attention_mask=mask)[0]
        chosen = targets != -100
        scores = model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(hidden[chosen]))))
        loss = words = torch.nn.functional.cross_entropy(scores, targets[chosen])
        if relation[0] >= 0:
            answers = relation_head(torch.nn.functional.dropout(pre_classifier(hidden[:, 0]).relu(), 0.1))
            relations = torch.nn.functional.cross_entropy(answers, relation)
            loss = words + relations
            sums[1] += relations.item()
            sums[2] += (answers.argmax(-1) == relation).float().mean().item()
            count[1] += 1
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        sums[0] += words.item()
        count[0] += 1
        if step % args.report == 0 or step == args.steps:
            several = max(1, count[1])
            print(
                f"step {step}/{args.steps} word loss {sums[0] / count[0]:.3f} relation loss {sums[1] / several:.3f}"
                f" accuracy {sums[2] / several:.3f} {time.perf_counter() - start:.0f} s",
                flush=True,
            )
            sums, count = [0.0] * 3, [0] * 2
        if step % 500 == 0 or step == args.steps:
            save(model, pre_classifier, args.output)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
