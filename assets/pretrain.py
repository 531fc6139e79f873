"""Pretrain the embedded DistilBERT: ``python assets/pretrain.py`` rewrites ``assets/distilbert-mini``.

On text of the generator in ``make_nli.py`` and never on the pairs of its splits. First stage: masked words, and how the second text
of a pair relates to the first (follows, open, contradicted). Further stages: the same relation, and which detail of an order differs,
with words as a side line. What is asked of pairs goes through ``pre_classifier``, the body of DistilBERT's classification head, which
is saved with the encoder, as BERT's pooler is; the last layer, ``classifier``, is always drawn anew.
At the end the weights are rewritten so that they bear the learning rates that a pretrained model of common width bears (`with_reach`).
Same seed and same library versions: the same behaviour; the bytes depend on the machine.
"""

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from make_nli import (
    FACT_COUNTS, ORDER_SLOTS, STATION, VILLAGE, Dice, build, order, premise, sentence, slot_values, statement, subject_of, write_order,
)
from safetensors.torch import load_file
from tokenizers import BertWordPieceTokenizer
from transformers import AutoTokenizer, DistilBertConfig, DistilBertForMaskedLM

FOLDER = Path(__file__).resolve().parent / "distilbert-mini"
SEED = 1986
POSITIONS = 512
VOCABULARY = 2000
RELATIONS = 3
CHANGES = ("no_change", *ORDER_SLOTS)
# A step of 1e-3 then moves the outputs of the query and key layers as far, in relation to them, as those of MiniLM (0.35 and 0.31).
REACH = 9.0
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


@dataclass(frozen=True)
class Stage:
    """One run of the optimizer: how long, how fast, what the loss on words counts, and what is asked of pairs of orders."""

    steps: int
    learning_rate: float
    words: float
    asks_orders: bool


STAGES = (
    Stage(14_000, 8e-4, 1.0, asks_orders=False),
    Stage(5_000, 8e-4, 0.3, asks_orders=True),
    Stage(5_000, 8e-4, 0.3, asks_orders=True),
)


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

    def orders(self) -> tuple[str, str, int]:
        """Two orders, and which detail differs (0: none)."""
        while True:
            genre = VILLAGE if self.dice.chance(0.6) else STATION
            first = order(self.dice, genre)
            label = self.dice.below(len(CHANGES))
            name = CHANGES[label]
            second = first | ({name: self.dice.other(slot_values(genre)[name], first[name])} if label else {})
            pair = write_order(self.dice, genre, first), write_order(self.dice, genre, second)
            if not self.forbidden & {*pair}:
                return *pair, label


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


def batches(passages: Passages, tokenizer, size: int, generator: torch.Generator, *, asks_orders: bool):
    """Endless batches (inputs, mask, targets, answers, of_orders), pairs of similar length together.

    ``targets`` is int64[batch, tokens] with -100 where nothing is to be predicted; ``answers`` int64[batch]: the relation, or of
    orders (every fourth batch) the detail that differs, -100 where that is not asked.
    """
    pieces = tokenizer.backend_tokenizer
    words = len(tokenizer)
    while True:
        rows = [passages.pair() for _ in range(12 * size)]
        count = 4 * size
        orders = [passages.orders() if asks_orders else (passages.order(), passages.order(), -100) for _ in range(count)]
        chunks = []
        for of_orders, kind in enumerate((rows, orders)):
            encoded = pieces.encode_batch([(first, second) for first, second, _ in kind])
            kept = sorted(((code.ids, row[2]) for code, row in zip(encoded, kind, strict=True)), key=lambda item: len(item[0]))
            chunks += [(kept[start : start + size], of_orders) for start in range(0, len(kept), size)]
        for index in torch.randperm(len(chunks), generator=generator).tolist():
            chunk, of_orders = chunks[index]
            width = len(chunk[-1][0])
            ids = torch.tensor([row + [PAD] * (width - len(row)) for row, _ in chunk])
            chosen = (torch.rand(ids.shape, generator=generator) < 0.12) & (ids > MASK)
            targets = torch.where(chosen, ids, -100)
            fate = torch.rand(ids.shape, generator=generator)
            noise = torch.randint(MASK + 1, words, ids.shape, generator=generator)
            inputs = torch.where(chosen & (fate < 0.8), MASK, ids)
            inputs = torch.where(chosen & (fate >= 0.9), noise, inputs)
            yield inputs, (ids != PAD).long(), targets, torch.tensor([answer for _, answer in chunk]), bool(of_orders)


def with_reach(weights: dict[str, torch.Tensor], factor: float) -> dict[str, torch.Tensor]:
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
    model.save_pretrained(folder, state_dict=with_reach(weights, REACH))


class Pretraining:
    """The model, the body of its classification head, and the optimizer of each stage in turn."""

    def __init__(self, args: argparse.Namespace, tokenizer) -> None:
        config = DistilBertConfig(
            vocab_size=len(tokenizer), max_position_embeddings=POSITIONS, n_layers=args.layers, n_heads=args.heads,
            dim=args.dim, hidden_dim=args.hidden_dim, pad_token_id=PAD,
        )
        self.args, self.tokenizer = args, tokenizer
        self.model = DistilBertForMaskedLM(config).to(args.device)
        self.pre_classifier = torch.nn.Linear(args.dim, args.dim).to(args.device)

    def load(self, folder: Path) -> None:
        """The weights that an earlier stage saved."""
        self.take(with_reach(load_file(folder / "model.safetensors"), 1 / REACH))

    def take(self, weights: dict[str, torch.Tensor]) -> None:
        """These weights, as they were before `with_reach`."""
        weights = dict(weights)
        self.pre_classifier.load_state_dict({name: weights.pop(f"pre_classifier.{name}") for name in ("weight", "bias")})
        self.model.load_state_dict(weights, strict=False)
        self.model.tie_weights()

    def run(self, number: int) -> None:
        """One stage, and save."""
        args, stage, model = self.args, STAGES[number], self.model
        steps = args.steps or stage.steps
        generator = torch.Generator().manual_seed(args.seed + 10 * number)
        heads = [torch.nn.Linear(args.dim, size).to(args.device) for size in (RELATIONS, *([len(CHANGES)] * stage.asks_orders))]
        parameters = [*model.parameters(), *self.pre_classifier.parameters(), *(weight for head in heads for weight in head.parameters())]
        groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.01},
                  {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=stage.learning_rate, betas=(0.9, 0.98))
        warm_up = max(1, min(500, steps // 10))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / warm_up, max(0.02, 0.5 + 0.5 * math.cos(math.pi * step / steps))))
        model.train()
        passages = Passages(args.seed + 2 + 10 * number)
        source = batches(passages, self.tokenizer, args.batch_size, generator, asks_orders=stage.asks_orders)
        seen, start = Averages(), time.perf_counter()
        for step in range(1, steps + 1):
            if number == 0:
                # Short texts first: to find the fact that matters among many is learnt last.
                passages.longest = min(len(FACT_COUNTS), 1 + int(2 * step / steps * len(FACT_COUNTS)))
            *tensors, of_orders = next(source)
            inputs, mask, targets, answers = (tensor.to(args.device) for tensor in tensors)
            hidden = model.distilbert(input_ids=inputs, attention_mask=mask)[0]
            chosen = targets != -100
            scores = model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(hidden[chosen]))))
            words = torch.nn.functional.cross_entropy(scores, targets[chosen])
            loss = stage.words * words
            seen.add("word loss", words)
            if answers[0] >= 0:
                told = heads[of_orders](torch.nn.functional.dropout(self.pre_classifier(hidden[:, 0]).relu(), 0.1))
                asked = torch.nn.functional.cross_entropy(told, answers)
                loss = loss + asked
                name = "order" if of_orders else "relation"
                seen.add(f"{name} loss", asked)
                seen.add(f"{name} accuracy", (told.argmax(-1) == answers).float().mean())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            if step % args.report == 0 or step == steps:
                print(f"stage {number + 1} step {step}/{steps} {seen} {time.perf_counter() - start:.0f} s", flush=True)
                seen = Averages()
            if step % 500 == 0 or step == steps:
                save(model, self.pre_classifier, args.output)


class Averages:
    """Means of named figures."""

    def __init__(self) -> None:
        self.sums: dict[str, tuple[float, int]] = {}

    def add(self, name: str, value: torch.Tensor) -> None:
        total, count = self.sums.get(name, (0.0, 0))
        self.sums[name] = total + value.item(), count + 1

    def __str__(self) -> str:
        return " ".join(f"{name} {total / count:.3f}" for name, (total, count) in sorted(self.sums.items()))


def main() -> None:
    """Train tokenizer and model, and save both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--from-stage", type=int, default=1, choices=(1, 2, 3), help="go on from the weights that the stage before left in --output")
    parser.add_argument("--steps", type=int, help="steps of each stage, to try things out")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--hidden-dim", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--report", type=int, default=200)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    tokenizer = make_tokenizer(args.output, Passages(SEED + 1)) if args.from_stage == 1 else AutoTokenizer.from_pretrained(args.output)
    pretraining = Pretraining(args, tokenizer)
    if args.from_stage > 1:
        pretraining.load(args.output)
    print(f"{sum(p.numel() for p in pretraining.model.parameters()):,} parameters, {len(tokenizer)} pieces", flush=True)
    for number in range(args.from_stage - 1, len(STAGES)):
        torch.manual_seed(args.seed + 10 * number)
        pretraining.run(number)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
