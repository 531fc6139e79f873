"""Pretrain the embedded DistilBERT: ``python assets/pretrain.py`` rewrites ``assets/distilbert-mini``.

Self-supervised, on text of the generator in ``make_nli.py`` and never on its splits: masked-word
prediction on pairs of texts, and whether both texts come from the same passage.
Same seed and same library versions: the same behaviour; the bytes depend on the machine.
"""

import argparse
import copy
import json
import math
import os
import time
from pathlib import Path

import torch
from make_nli import (
    COLOURS,
    DAYS,
    NUMBERS,
    ORDER_SLOTS,
    STATION,
    VILLAGE,
    Dice,
    Genre,
    Statement,
    build,
    describe,
    order,
    slot_values,
    statement,
    subject_of,
    write_order,
)
from tokenizers import BertWordPieceTokenizer
from transformers import AutoTokenizer, DistilBertConfig, DistilBertForMaskedLM

FOLDER = Path(__file__).resolve().parent / "distilbert-mini"
SEED = 1986
POSITIONS = 512
MAX_TOKENS = 128
FACTS = (4, 4, 3, 2, 2, 1, 1)
VOCABULARY = 2000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, SEP, MASK = (SPECIAL.index(name) for name in ("[PAD]", "[SEP]", "[MASK]"))
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
    """An endless source of text pairs, none of which has a sentence of the fine-tuning splits."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.longest = len(FACTS)
        self.origins = (12, 5, 3)  # same passage, another one with the same cast, any other one
        self.forbidden = {text for rows in build().values() for row in rows for text in row[:2]}

    def pair(self) -> tuple[str, str, bool]:
        """Two texts, and whether the second one goes on with the first one's passage."""
        while True:
            genre = VILLAGE if self.dice.chance(0.6) else STATION
            tell = self.scene if self.dice.chance(0.6) else self.orders
            kind = self.dice.weighted(self.origins)
            first, second = tell(genre, kind != 1)
            if kind == 2:
                second = tell(genre, True)[1]
            if first not in self.forbidden and second not in self.forbidden:
                return first, second, kind == 0

    def scene(self, genre: Genre, same: bool) -> tuple[str, str]:
        """A description, and a shorter one: of the same scene, or of another with the same cast."""
        dice = self.dice
        cast = [subject_of(dice, genre)]
        told: dict[tuple[str, str], Statement] = {}
        for _ in range(1 + dice.weighted(FACTS[: self.longest])):
            if dice.chance(0.45):
                subject = dice.pick(cast)
            else:
                subject = subject_of(dice, genre, cast)
                cast.append(subject)
            said = statement(dice, genre, subject)
            told.setdefault((subject, said.topic), said)
        restate = 0.9 if same else 0.45
        left = dice.shuffled(told.items())
        first, second, topics = {}, {}, set()
        for key, said in told.items():
            wordings = (dice.pick(said.entailed_by), said.claim)
            first[key] = wordings[dice.chance(0.3)]
        for _ in range(1 + dice.weighted((5, 3, 1))):
            if left and dice.chance(restate):
                key, said = left.pop()
                if not same:
                    said = statement(dice, genre, *key)
                elif first[key] == said.claim:
                    second[key] = dice.pick(said.entailed_by)
                    continue
            else:
                subject = dice.pick(cast)
                said = statement(dice, genre, subject)
                key = (subject, said.topic)
                if same and key in told or key in topics:
                    continue
            topics.add(key)
            second[key] = said.claim
        if not second:
            return self.scene(genre, same)
        return tuple(describe(dice, genre, [(subject, text) for (subject, _), text in facts.items()]) for facts in (first, second))

    def orders(self, genre: Genre, same: bool) -> tuple[str, str]:
        """An order twice, or two orders that have some details in common."""
        dice, pools = self.dice, slot_values(genre)
        first = order(dice, genre)
        second = dict(first)
        if not same:
            while second == first:
                second = {slot: dice.pick(pools[slot]) if dice.chance(0.4) else first[slot] for slot in ORDER_SLOTS}
        return write_order(dice, genre, first), write_order(dice, genre, second)


def make_tokenizer(folder: Path, passages: Passages) :
    """Train the WordPiece vocabulary and save the tokenizer."""
    pieces = BertWordPieceTokenizer(lowercase=True)
    texts = (text for _ in range(20_000) for text in passages.pair()[:2])
    pieces.train_from_iterator(texts, vocab_size=VOCABULARY, min_frequency=2, special_tokens=list(SPECIAL), show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    pieces.save_model(str(folder))
    BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER_CONFIG, indent=2) + "\n")
    return AutoTokenizer.from_pretrained(folder)


def word_classes(tokenizer) -> tuple[torch.Tensor, torch.Tensor]:
    """For every piece the pieces that could stand in its place.

    Returns:
        int64[pieces, most], the pieces of the same class, and int64[pieces], how many there are.
    """
    classes = [DAYS, NUMBERS, COLOURS, ("loves", "likes", "hates", "dislikes"), ("indoors", "outdoors")]
    for genre in (VILLAGE, STATION):
        classes += [genre.people, tuple(genre.things), genre.inside + genre.outside, genre.counted, genre.topics]
        classes += [genre.names, genre.goods, genre.order_places]
        classes += [sum(genre.kinds.values(), ()), tuple(genre.kinds), sum(genre.ways.values(), ())]
        classes += [a + b for a, b in (*genre.person_states, *genre.thing_states.values())]
    mates: dict[int, set[int]] = {}
    for words in classes:
        ids = {tokenizer(word, add_special_tokens=False)["input_ids"][-1] for word in words}
        for piece in ids:
            mates.setdefault(piece, set()).update(ids - {piece})
    counts = torch.zeros(len(tokenizer), dtype=torch.long)
    table = torch.zeros(len(tokenizer), max(map(len, mates.values())), dtype=torch.long)
    for piece, others in mates.items():
        counts[piece] = len(others)
        table[piece, : len(others)] = torch.tensor(sorted(others))
    return table, counts


def batches(passages: Passages, tokenizer, size: int, generator: torch.Generator):
    """Batches (input_ids, attention_mask, targets, same), pairs of similar length together.

    ``targets`` is int64[batch, tokens] with -100 where nothing is to be predicted.
    """
    pieces = tokenizer.backend_tokenizer
    words = len(tokenizer)
    table, counts = word_classes(tokenizer)
    while True:
        rows = [passages.pair() for _ in range(16 * size)]
        encoded = pieces.encode_batch([(first, second) for first, second, _ in rows])
        kept = sorted(
            ((code.ids, row[2]) for code, row in zip(encoded, rows, strict=True) if len(code.ids) <= MAX_TOKENS),
            key=lambda item: len(item[0]),
        )
        starts = torch.randperm(len(kept) // size, generator=generator).tolist()
        for start in starts:
            chunk = kept[start * size : (start + 1) * size]
            width = len(chunk[-1][0])
            ids = torch.tensor([row + [PAD] * (width - len(row)) for row, _ in chunk])
            same = torch.tensor([flag for _, flag in chunk])
            mask = (ids != PAD).long()
            later = (ids == SEP).cumsum(1) > 0
            spoilt = same & (torch.rand(size, generator=generator) < 0.5)
            mates = counts[ids]
            able = later & (mates > 0) & spoilt[:, None]
            order_of = torch.where(able, torch.rand(ids.shape, generator=generator), -1.0)
            swapped = (order_of == order_of.max(1, keepdim=True).values) & able
            swapped |= (torch.rand(ids.shape, generator=generator) < 0.1) & able
            pick = (torch.rand(ids.shape, generator=generator) * mates).long()
            foreign = torch.where(later & (mates > 0) & same[:, None], swapped.float(), -1.0)
            ids = torch.where(swapped, table[ids].gather(2, pick[..., None])[..., 0], ids)
            piece = torch.where(same, PAD, -100)
            piece = torch.where(swapped.any(1), torch.where(swapped, ids, 0).gather(1, order_of.argmax(1, keepdim=True))[:, 0], piece)
            goes_on = torch.where(swapped.any(1), -100, same.long())
            chosen = (torch.rand(ids.shape, generator=generator) < 0.15) & (ids > MASK) & ~swapped
            foreign = torch.where(chosen, -1.0, foreign)
            targets = torch.where(chosen, ids, -100)
            fate = torch.rand(ids.shape, generator=generator)
            noise = torch.randint(MASK + 1, words, ids.shape, generator=generator)
            inputs = torch.where(chosen & (fate < 0.8), MASK, ids)
            inputs = torch.where(chosen & (fate >= 0.9), noise, inputs)
            yield inputs, mask, targets, goes_on, foreign, piece


def grow(shallow: DistilBertForMaskedLM, layers: int) -> DistilBertForMaskedLM:
    """A deeper model that starts out computing nearly what the shallow one computes.

    Every block of the shallow model is followed by new ones whose two outputs are close to zero,
    so that only their layer norms act at first.
    """
    config = copy.deepcopy(shallow.config)
    config.n_layers = layers
    deep = DistilBertForMaskedLM(config)
    state = shallow.state_dict()
    deep.load_state_dict({k: v for k, v in state.items() if ".layer." not in k}, strict=False)
    old = shallow.distilbert.transformer.layer
    for index, block in enumerate(deep.distilbert.transformer.layer):
        source = index * len(old) // layers
        template = old[source]
        if index == 0 or (index - 1) * len(old) // layers != source:
            block.load_state_dict(template.state_dict())
            continue
        for norm in (block.sa_layer_norm, block.output_layer_norm):
            norm.load_state_dict(template.output_layer_norm.state_dict())
        for linear in (block.attention.out_lin, block.ffn.lin2):
            torch.nn.init.normal_(linear.weight, std=0.002)
    deep.tie_weights()
    return deep


def save(model: DistilBertForMaskedLM, pre_classifier: torch.nn.Linear, folder: Path) -> None:
    """Save the encoder, its word head and the classification head's body, under the names that transformers gives them."""
    extra = {f"pre_classifier.{name}": tensor for name, tensor in pre_classifier.state_dict().items()}
    model.save_pretrained(folder, state_dict=model.state_dict() | extra)


def main() -> None:
    """Train tokenizer and model, and save both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=FOLDER)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--hidden-dim", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--report", type=int, default=100)
    parser.add_argument("--swap-weight", type=float, default=3.0)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--init", type=Path)
    parser.add_argument("--lengthen", type=float, default=0.4)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    if args.init:
        tokenizer = AutoTokenizer.from_pretrained(args.init)
        tokenizer.save_pretrained(args.output)
        for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
            (args.output / name).write_bytes((args.init / name).read_bytes())
    else:
        tokenizer = make_tokenizer(args.output, Passages(SEED + 1))
    config = DistilBertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=POSITIONS, n_layers=args.layers, n_heads=args.heads,
        dim=args.dim, hidden_dim=args.hidden_dim, pad_token_id=PAD,
    )
    model = DistilBertForMaskedLM.from_pretrained(args.init) if args.init else DistilBertForMaskedLM(config)
    if model.config.n_layers < args.layers:
        model = grow(model, args.layers)
    model = model.to(args.device)
    # The body of DistilBERT's classification head: the questions about both texts go through it, and it is saved with the model.
    pre_classifier = torch.nn.Linear(args.dim, args.dim).to(args.device)
    pair_head = torch.nn.Linear(args.dim, 2).to(args.device)
    swap_head = torch.nn.Linear(args.dim, 1).to(args.device)
    piece_head = torch.nn.Linear(args.dim, len(tokenizer)).to(args.device)
    parameters = [*piece_head.parameters(), *model.parameters(), *pair_head.parameters(), *pre_classifier.parameters(), *swap_head.parameters()]
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} pieces", flush=True)
    optimizer = torch.optim.AdamW(parameters, lr=args.learning_rate, betas=(0.9, 0.98), weight_decay=args.weight_decay)
    warm_up = max(1, min(1000, args.steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm_up, max(0.02, 0.5 + 0.5 * math.cos(math.pi * step / args.steps))),
    )
    model.train()
    passages = Passages(args.seed + 2)
    source = batches(passages, tokenizer, args.batch_size, generator)
    start, sums, count = time.perf_counter(), [0.0] * 7, 0
    for step in range(1, args.steps + 1):
        passages.longest = min(len(FACTS), 1 + int(step / args.steps / args.lengthen * len(FACTS)))
        inputs, mask, targets, same, foreign, piece = (tensor.to(args.device) for tensor in next(source))
        hidden = model.distilbert(input_ids=inputs, attention_mask=mask)[0]
        chosen = targets != -100
        scores = model.vocab_projector(model.vocab_layer_norm(model.activation(model.vocab_transform(hidden[chosen]))))
        words = torch.nn.functional.cross_entropy(scores, targets[chosen])
        pooled = pre_classifier(hidden[:, 0]).relu()
        answers = pair_head(pooled)
        pairs = torch.nn.functional.cross_entropy(answers, same)
        asked = foreign >= 0
        swaps = torch.nn.functional.binary_cross_entropy_with_logits(swap_head(hidden[asked])[:, 0], foreign[asked])
        guesses = piece_head(pooled)
        pieces = torch.nn.functional.cross_entropy(guesses, piece)
        optimizer.zero_grad()
        (words + pairs + pieces + args.swap_weight * swaps).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        sums[0] += words.item()
        sums[1] += (scores.argmax(-1) == targets[chosen]).float().mean().item()
        sums[2] += pairs.item()
        sums[3] += (answers.argmax(-1) == same)[same >= 0].float().mean().item()
        sums[4] += swaps.item()
        sums[5] += pieces.item()
        sums[6] += (guesses.argmax(-1) == piece)[piece >= 0].float().mean().item()
        count += 1
        if step % args.report == 0 or step == args.steps:
            means = [total / count for total in sums]
            print(
                f"step {step}/{args.steps} word loss {means[0]:.3f} accuracy {means[1]:.3f}"
                f" pair loss {means[2]:.3f} accuracy {means[3]:.3f} swap loss {means[4]:.3f} piece loss {means[5]:.3f} accuracy {means[6]:.3f} {time.perf_counter() - start:.0f} s",
                flush=True,
            )
            sums, count = [0.0] * 7, 0
        if step % 1000 == 0 or step == args.steps:
            save(model, pre_classifier, args.output)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
