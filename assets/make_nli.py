"""Make the embedded sentence-pair data: ``python assets/make_nli.py`` rewrites ``assets/nli``.

Two tasks in MNLI's columns (``premise``, ``hypothesis``, ``label``, ``idx``):

* **inference** (configs ``2_labels`` and ``3_labels``): does the premise entail, leave open or
  contradict the hypothesis? Every hypothesis is written first, and then one premise for each
  label is written for it, so that the hypothesis alone says nothing about the label.
* **details** (configs ``4_labels`` to ``6_labels``): an order, and a piece of it; what kind of detail
  is the piece? The config with k labels holds the first k classes.

Only the standard library, one seed, the same bytes on every machine. ``--check`` compares the
files on disk with what would be written and exits with 1 when they differ.
"""

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SEED = 20210
FOLDER = Path(__file__).resolve().parent / "nli"
MAX_WORDS = 45

INFERENCE_LABELS = ("entailment", "neutral", "contradiction")
BINARY_LABELS = ("entailment", "not_entailment")
DETAIL_LABELS = ("place", "day", "person", "number", "object", "circumstance")

# Hypotheses per split; each one gives three rows. Details: rows per class and split.
HYPOTHESES = {"train": 900, "validation_matched": 150, "validation_mismatched": 150}
DETAILS_PER_CLASS = {"train": 450, "validation_matched": 75, "validation_mismatched": 75}

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "orange")


class Dice:
    """Random choices built on ``random()`` alone, whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Whether an event of this probability happens."""
        return self._random() < probability

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound - 1``."""
        return int(self._random() * bound)

    def pick(self, items):
        """One of the items."""
        return items[self.below(len(items))]

    def other(self, items, *taken):
        """One of the items that is not among ``taken``."""
        return self.pick([item for item in items if item not in taken])

    def weighted(self, weights) -> int:
        """An index, with probability proportional to its weight."""
        point = self._random() * sum(weights)
        for index, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return index
        return len(weights) - 1

    def shuffled(self, items) -> list:
        """The items in random order."""
        items = list(items)
        for last in range(len(items) - 1, 0, -1):
            swap = self.below(last + 1)
            items[last], items[swap] = items[swap], items[last]
        return items


@dataclass(frozen=True)
class Genre:
    """The lexicon of one kind of text."""

    people: tuple[str, ...]
    person_states: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    things: dict[str, tuple[str, ...]]
    thing_states: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    kinds: dict[str, tuple[str, ...]]
    counted: tuple[str, ...]
    topics: tuple[str, ...]
    ways: dict[str, tuple[str, ...]]
    openings: tuple[str, ...]
    names: tuple[str, ...]
    goods: tuple[str, ...]
    order_places: tuple[str, ...]
    reasons: tuple[str, ...]


VILLAGE = Genre(
    people=(
        "nurse", "farmer", "teacher", "baker", "gardener", "student", "painter", "doctor", "waiter",
        "driver", "singer", "carpenter", "librarian", "neighbour", "grandmother", "uncle", "plumber",
        "tailor", "butcher", "dentist", "postman", "shepherd", "lawyer", "hairdresser",
    ),
    person_states=(
        (("asleep", "sleeping"), ("awake",)),
        (("happy", "cheerful"), ("sad", "unhappy")),
        (("tired", "weary"), ("rested",)),
        (("calm", "relaxed"), ("nervous", "anxious")),
        (("healthy",), ("ill", "sick")),
        (("rich", "wealthy"), ("poor",)),
        (("young",), ("old", "elderly")),
        (("tall",), ("short",)),
        (("hungry", "starving"), ("well fed",)),
        (("early",), ("late",)),
        (("polite", "courteous"), ("rude",)),
        (("sitting", "seated"), ("standing",)),
        (("married",), ("single",)),
        (("silent", "quiet"), ("noisy", "loud")),
    ),
    things={
        "door": ("open", "wide", "locked"), "soup": ("hot", "fresh"), "window": ("open", "clean", "broken"),
        "bread": ("fresh", "cheap"), "cup": ("full", "clean", "broken"), "suitcase": ("heavy", "full", "locked"),
        "gate": ("open", "locked", "broken"), "street": ("wide", "clean", "wet"), "chair": ("broken", "cheap", "soft"),
        "knife": ("sharp", "clean"), "blanket": ("soft", "wet", "clean"), "bottle": ("full", "open", "broken"),
        "basket": ("heavy", "full", "cheap"), "bath": ("hot", "full", "clean"), "pillow": ("soft", "clean", "cheap"),
    },
    thing_states={
        "open": (("open",), ("closed", "shut")), "hot": (("hot", "boiling"), ("cold",)),
        "clean": (("clean", "spotless"), ("dirty", "filthy")), "full": (("full",), ("empty",)),
        "cheap": (("cheap", "inexpensive"), ("expensive", "costly")), "broken": (("broken", "damaged"), ("intact",)),
        "locked": (("locked",), ("unlocked",)), "heavy": (("heavy",), ("light",)), "wide": (("wide",), ("narrow",)),
        "sharp": (("sharp",), ("blunt", "dull")), "fresh": (("fresh",), ("stale",)), "soft": (("soft",), ("hard",)),
        "wet": (("wet", "soaked"), ("dry",)),
    },
    inside=("kitchen", "library", "garage", "office", "cellar", "bathroom", "bakery", "classroom", "attic"),
    outside=("garden", "park", "meadow", "forest", "orchard", "vineyard", "courtyard", "playground"),
    kinds={
        "instrument": ("violin", "guitar", "flute", "trumpet", "drum", "harp"),
        "fruit": ("pear", "banana", "plum", "peach", "lemon", "melon"),
        "tool": ("hammer", "saw", "wrench", "drill", "shovel", "rake"),
        "garment": ("coat", "scarf", "jacket", "sweater", "shirt", "skirt"),
        "toy": ("doll", "kite", "puzzle", "teddy bear", "yo-yo"),
    },
    counted=("cats", "hens", "sheep", "bicycles", "cousins", "brothers", "sisters", "rabbits", "goats", "umbrellas"),
    topics=("tea", "coffee", "opera", "chess", "football", "rain", "snow", "cheese", "poetry", "swimming", "jazz", "onions"),
    ways={"road": ("car", "bus", "taxi"), "rail": ("train", "tram"), "water": ("boat", "ferry", "canoe")},
    openings=(
        "This morning", "According to the neighbours,", "As everyone in the village knows,", "Right now",
        "On this rainy afternoon", "Just as yesterday,", "In the old photograph", "As the letter says,",
        "After a long and busy week", "At the moment",
    ),
    names=("Anna", "Boris", "Clara", "David", "Emma", "Felix", "Grace", "Henry", "Irene", "Jack", "Karen", "Leo"),
    goods=("apples", "chairs", "candles", "towels", "flowers", "pies", "jars", "carpets", "lamps", "eggs", "mirrors", "ribbons"),
    order_places=("school", "hotel", "museum", "church", "market", "theatre", "station", "hospital", "bank", "castle", "farm", "cafe"),
    reasons=(
        "because the shop is closed", "as we agreed last week", "if the weather stays fine", "before the guests arrive",
        "so that nobody has to wait", "because the old van is being repaired", "as usual", "and keep the receipt",
    ),
)

STATION = Genre(
    people=(
        "captain", "sailor", "pilot", "geologist", "engineer", "diver", "mechanic", "navigator", "surgeon",
        "astronomer", "ranger", "guide", "botanist", "lieutenant", "inspector", "translator", "cook", "physicist",
    ),
    person_states=(
        (("armed",), ("unarmed",)),
        (("experienced", "skilled"), ("inexperienced",)),
        (("injured", "wounded"), ("unhurt",)),
        (("brave", "fearless"), ("timid",)),
        (("optimistic", "hopeful"), ("pessimistic",)),
        (("sober",), ("drunk",)),
        (("busy", "occupied"), ("idle",)),
        (("punctual",), ("delayed",)),
        (("guilty",), ("innocent",)),
        (("awake",), ("unconscious",)),
    ),
    things={
        "engine": ("warm", "reliable", "modern"), "hatch": ("sealed", "rusty"), "tank": ("loaded", "sealed", "rusty"),
        "signal": ("strong", "reliable"), "rope": ("strong", "thick", "long"), "cable": ("thick", "long", "rusty"),
        "tunnel": ("long", "deep", "safe"), "lake": ("deep", "calm", "frozen"), "harbour": ("calm", "frozen", "safe"),
        "truck": ("loaded", "modern", "reliable"), "shelter": ("warm", "safe", "modern"), "valve": ("sealed", "rusty", "modern"),
    },
    thing_states={
        "warm": (("warm",), ("cool", "chilly")), "reliable": (("reliable", "dependable"), ("unreliable",)),
        "modern": (("modern",), ("outdated", "obsolete")), "sealed": (("sealed",), ("leaking",)),
        "rusty": (("rusty", "corroded"), ("polished",)), "loaded": (("loaded",), ("unloaded",)),
        "strong": (("strong", "powerful"), ("weak",)), "thick": (("thick",), ("thin",)), "long": (("long",), ("brief",)),
        "deep": (("deep",), ("shallow",)), "safe": (("safe", "secure"), ("dangerous",)), "calm": (("still",), ("stormy",)),
        "frozen": (("frozen",), ("thawed",)),
    },
    inside=("cabin", "laboratory", "hangar", "engine room", "observatory", "workshop", "cockpit", "infirmary"),
    outside=("canyon", "desert", "bay", "valley", "swamp", "jungle", "quarry", "crater"),
    kinds={
        "weapon": ("rifle", "pistol", "sword", "dagger", "spear"),
        "document": ("passport", "map", "permit", "contract", "diary"),
        "device": ("camera", "radio", "compass", "telescope", "barometer"),
        "gem": ("ruby", "diamond", "sapphire", "pearl"),
        "container": ("bucket", "barrel", "crate", "flask"),
    },
    counted=("maps", "tents", "sons", "daughters", "medals", "horses", "assistants", "tattoos", "sledges"),
    topics=("fish", "whisky", "mathematics", "poker", "climbing", "fog", "silence", "rum", "astronomy", "fishing"),
    ways={"air": ("plane", "helicopter", "balloon"), "road": ("jeep", "motorbike", "lorry"), "water": ("submarine", "ship", "yacht")},
    openings=(
        "Log entry:", "According to the final report,", "At sunrise", "During the second week",
        "As the radio message states,", "Three miles from the coast", "Since the storm", "For the record,",
    ),
    names=("Major Reed", "Doctor Stone", "Sergeant Hall", "Professor Lund", "Miss Carter", "Mister Novak", "Captain Silva", "Nurse Okoye"),
    goods=("batteries", "crates", "blankets", "torches", "sensors", "helmets", "filters", "bandages", "pumps", "tyres"),
    order_places=("airfield", "lighthouse", "outpost", "depot", "pier", "mine", "fort", "summit", "village", "dam"),
    reasons=(
        "because the road is blocked", "as the commander requested", "before the tide turns", "if the helicopter can fly",
        "so that the team can leave", "without any delay", "and report back at once",
    ),
)

GENRES = {"train": VILLAGE, "validation_matched": VILLAGE, "validation_mismatched": STATION}


@dataclass(frozen=True)
class Statement:
    """One thing that can be said of somebody, with what makes it true and what makes it false.

    All texts are predicates ("is asleep"). ``topic`` names the question that is answered: two
    statements of one subject with different topics never touch each other.
    """

    topic: str
    claim: str
    entailed_by: tuple[str, ...]
    contradicted_by: tuple[str, ...]


def article(noun: str) -> str:
    """The noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def state(dice: Dice, topic: str, pair) -> Statement:
    """An adjective with its antonyms: "is asleep", or its plain negation "is not asleep"."""
    side = dice.below(2)
    words, opposites = pair[side], pair[1 - side]
    word = dice.pick(words)
    if dice.chance(0.25):
        return Statement(topic, f"is not {word}", (f"is not {word}",), (f"is {word}",))
    return Statement(
        topic,
        f"is {word}",
        (f"is {word}", *(f"is {same}" for same in words)),
        (*(f"is {opposite}" for opposite in opposites for _ in range(2)), f"is not {word}"),
    )


def place(dice: Dice, genre: Genre) -> Statement:
    """A place, or only indoors/outdoors."""
    sides = (("indoors", genre.inside), ("outdoors", genre.outside))
    side = dice.below(2)
    (word, here), (opposite, there) = sides[side], sides[1 - side]
    others = tuple(f"is in the {spot}" for spot in there)
    if dice.chance(0.4):
        return Statement("place", f"is {word}", tuple(f"is in the {spot}" for spot in here), others)
    spot = dice.pick(here)
    return Statement("place", f"is in the {spot}", (f"is in the {spot}",), others)


def carrying(dice: Dice, genre: Genre) -> Statement:
    """Something carried or not carried, by its own name or by that of its kind."""
    kind = dice.pick(list(genre.kinds))
    thing = dice.pick(genre.kinds[kind])
    no_thing, no_kind = f"is not carrying {article(thing)}", f"is not carrying any {kind}"
    one, some = f"is carrying {article(thing)}", f"is carrying {article(kind)}" if kind != "fruit" else "is carrying some fruit"
    return dice.pick((
        Statement("carrying", one, (one,), (no_thing, no_kind)),
        Statement("carrying", some, tuple(f"is carrying {article(each)}" for each in genre.kinds[kind]), (no_kind,)),
        Statement("carrying", no_thing, (no_thing, no_kind), (one,)),
        Statement("carrying", no_kind, (no_kind,), tuple(f"is carrying {article(each)}" for each in genre.kinds[kind])),
    ))


def owning(dice: Dice, genre: Genre) -> Statement:
    """How many of something somebody has."""
    noun, number = dice.pick(genre.counted), dice.pick(NUMBERS)
    claim = f"has {number} {noun}"
    return Statement(f"owning {noun}", claim, (claim,), tuple(f"has {n} {noun}" for n in NUMBERS if n != number))


def leaving(dice: Dice, genre: Genre) -> Statement:
    """The day of the departure."""
    claim = f"leaves on {dice.pick(DAYS)}"
    return Statement("leaving", claim, (claim,), tuple(f"leaves on {d}" for d in DAYS if not claim.endswith(d)))


def liking(dice: Dice, genre: Genre) -> Statement:
    """Love or hatred of something, each in three wordings."""
    topic, side = dice.pick(genre.topics), dice.below(2)
    verbs = (("loves", "likes", "is fond of"), ("hates", "dislikes", "cannot stand"))
    same = tuple(f"{verb} {topic}" for verb in verbs[side])
    return Statement(f"liking {topic}", dice.pick(same), same, tuple(f"{verb} {topic}" for verb in verbs[1 - side]))


def travelling(dice: Dice, genre: Genre) -> Statement:
    """A vehicle, or only road, rail, water or air."""
    way = dice.pick(list(genre.ways))
    others = tuple(f"travels by {v}" for w, vehicles in genre.ways.items() if w != way for v in vehicles)
    if dice.chance(0.4):
        return Statement("travelling", f"travels by {way}", tuple(f"travels by {v}" for v in genre.ways[way]), others)
    claim = f"travels by {dice.pick(genre.ways[way])}"
    return Statement("travelling", claim, (claim,), others)


def colour(dice: Dice) -> Statement:
    """The colour of a thing."""
    claim = f"is {dice.pick(COLOURS)}"
    return Statement("colour", claim, (claim,), tuple(f"is {c}" for c in COLOURS if claim != f"is {c}"))


def statement(dice: Dice, genre: Genre, subject: str, topic: str | None = None) -> Statement:
    """A random statement about the subject; with ``topic``, one about that topic."""
    while True:
        if subject in genre.things:
            if dice.chance(0.25):
                drawn = colour(dice)
            else:
                name = dice.pick(genre.things[subject])
                drawn = state(dice, name, genre.thing_states[name])
        else:
            kind = dice.weighted((6, 2, 3, 2, 1, 2, 1))
            if kind == 0:
                pair = dice.pick(genre.person_states)
                drawn = state(dice, pair[0][0], pair)
            else:
                drawn = (place, carrying, owning, leaving, liking, travelling)[kind - 1](dice, genre)
        if topic is None or drawn.topic == topic:
            return drawn


def subject_of(dice: Dice, genre: Genre, taken=()) -> str:
    """A person (mostly) or a thing that is not yet in the scene."""
    pool = genre.people if dice.chance(0.7) else tuple(genre.things)
    return dice.other(pool, *taken)


def either_way(dice: Dice, said: Statement) -> str:
    """One of the predicates that bear on the statement's topic."""
    return dice.pick((said.claim, dice.pick(said.entailed_by), dice.pick(said.contradicted_by)))


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return text[0].upper() + text[1:] + "."


def describe(dice: Dice, genre: Genre, facts) -> str:
    """Facts, pairs of subject and predicate, as one text; the facts of one subject stay together."""
    grouped: dict[str, list[str]] = {}
    for subject, predicate in dice.shuffled(facts):
        grouped.setdefault(subject, []).append(predicate)
    clauses = []
    for subject, predicates in grouped.items():
        while predicates:
            take, predicates = predicates[:3], predicates[3:]
            listed = take[0] if len(take) == 1 else ", ".join(take[:-1]) + " and " + take[-1]
            clauses.append(f"the {subject} {listed}")
    text = clauses[0]
    if dice.chance(0.3):
        text = f"{dice.pick(genre.openings)} {text}"
    sentences = [text]
    for clause in clauses[1:]:
        joint = dice.weighted((3, 2, 2, 1))
        if joint == 0:
            sentences.append(clause)
        else:
            sentences[-1] += (", while ", "; ", ", but ")[joint - 1] + clause
    return " ".join(sentence(each) for each in sentences)


FACT_COUNTS = (20, 20, 16, 12, 11, 9, 7, 5)


def premise(dice: Dice, genre: Genre, subject: str, topic: str, fact: str | None, fact_counts=FACT_COUNTS) -> str:
    """A text of one to eight facts; ``fact`` is among them, and no other fact bears on its topic.

    Without ``fact`` the text speaks of the subject, but not of the topic.
    """
    while True:
        count = 1 + dice.weighted(fact_counts)
        facts, topics = [], {(subject, topic)}
        if fact is not None:
            facts.append((subject, fact))
        cast = [subject]
        while len(facts) < count:
            if not facts or dice.chance(0.3):
                speaker = subject
            elif len(cast) > 1 and dice.chance(0.4):
                speaker = dice.pick(cast[1:])
            else:
                speaker = subject_of(dice, genre, cast)
            said = statement(dice, genre, speaker)
            if said.topic == topic or (speaker, said.topic) in topics:
                continue
            if speaker not in cast:
                cast.append(speaker)
            topics.add((speaker, said.topic))
            facts.append((speaker, either_way(dice, said)))
        text = describe(dice, genre, facts)
        if len(text.split()) <= MAX_WORDS:
            return text


def inference_split(dice: Dice, genre: Genre, count: int, seen: set[str]) -> tuple[list, list]:
    """Rows (premise, hypothesis, label) of one split, for three labels and for two.

    Args:
        dice: Source of randomness.
        genre: Lexicon.
        count: Number of hypotheses; each one gives three rows, and two for the binary config.
        seen: Hypotheses used so far in any split; added to.
    """
    three, two = [], []
    while len(three) < 3 * count:
        subject = subject_of(dice, genre)
        said = statement(dice, genre, subject)
        hypothesis = sentence(f"the {subject} {said.claim}")
        if hypothesis in seen:
            continue
        seen.add(hypothesis)
        facts = (dice.pick(said.entailed_by), None, dice.pick(said.contradicted_by))
        rows = [(premise(dice, genre, subject, said.topic, fact), hypothesis, label) for label, fact in enumerate(facts)]
        three += rows
        two += [rows[0], (*rows[1 + dice.below(2)][:2], 1)]
    return dice.shuffled(three), dice.shuffled(two)


ORDER_SLOTS = ("place", "day", "person", "number", "object")


def order(dice: Dice, genre: Genre) -> dict[str, str]:
    """A random order."""
    pools = slot_values(genre)
    return {slot: dice.pick(pools[slot]) for slot in ORDER_SLOTS}


def slot_values(genre: Genre) -> dict[str, tuple[str, ...]]:
    """What each detail of an order can be."""
    return {"place": genre.order_places, "day": DAYS, "person": genre.names, "number": NUMBERS, "object": genre.goods}


ORDER_TEXTS = (
    "{person} brings {number} {object} to the {place} on {day}",
    "{person} will take {number} {object} to the {place} on {day}",
    "on {day} {person} delivers {number} {object} to the {place}",
    "{number} {object} go to the {place} on {day}, carried by {person}",
    "the {place} gets {number} {object} from {person} on {day}",
)


def write_order(dice: Dice, genre: Genre, details: dict[str, str]) -> str:
    """The order as a sentence, sometimes with a reason behind it."""
    text = dice.pick(ORDER_TEXTS).format(**details)
    for _ in range(dice.weighted((5, 3, 1))):
        reason = dice.pick(genre.reasons)
        if reason not in text:
            text += f" {reason}" if " because" not in text else f", {reason}"
    return sentence(text)


DETAIL_TEXTS = {
    "place": ("to the {}", "the {}"),
    "day": ("on {}", "{}"),
    "person": ("{}", "from {}", "carried by {}"),
    "number": ("{}", "{} of these"),
    "object": ("{}", "the {}"),
}


def detail_rows(dice: Dice, genre: Genre, per_class: int, seen: set[tuple[str, str]]) -> list:
    """Rows (order, piece of it, class) of one split, ``per_class`` for each class."""
    rows = []
    for label, name in enumerate(DETAIL_LABELS):
        made = 0
        while made < per_class:
            details = order(dice, genre)
            text = write_order(dice, genre, details)
            if name in DETAIL_TEXTS:
                piece = dice.pick(DETAIL_TEXTS[name]).format(details[name])
            else:
                said = [reason for reason in genre.reasons if reason in text]
                if not said:
                    continue
                piece = dice.pick(said)
            pair = text, sentence(piece)
            if pair in seen:
                continue
            seen.add(pair)
            rows.append((*pair, label))
            made += 1
    return dice.shuffled(rows)


def build() -> dict[str, list[tuple[str, str, int]]]:
    """All files: name relative to ``assets/nli`` -> rows (premise, hypothesis, label)."""
    files, hypotheses, details = {}, set(), set()
    for number, (split, genre) in enumerate(GENRES.items()):
        dice = Dice(SEED + number)
        three, two = inference_split(dice, genre, HYPOTHESES[split], hypotheses)
        files[f"3_labels/{split}.jsonl"], files[f"2_labels/{split}.jsonl"] = three, two
        rows = detail_rows(dice, genre, DETAILS_PER_CLASS[split], details)
        for labels in (4, 5, 6):
            files[f"{labels}_labels/{split}.jsonl"] = [row for row in rows if row[2] < labels]
    return dict(sorted(files.items()))


def encode(rows) -> bytes:
    """Rows as JSON lines, numbered by ``idx``."""
    lines = (
        json.dumps({"premise": p, "hypothesis": h, "label": label, "idx": idx}, ensure_ascii=True)
        for idx, (p, h, label) in enumerate(rows)
    )
    return ("\n".join(lines) + "\n").encode()


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args().check
    differing = []
    for name, rows in build().items():
        path, content = FOLDER / name, encode(rows)
        if check:
            if not path.is_file() or path.read_bytes() != content:
                differing.append(name)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{name}: {len(rows)} rows, labels {dict(sorted(Counter(row[2] for row in rows).items()))}, {len(content)} bytes")
    for name in differing:
        print(f"assets/nli/{name} differs from what the generator writes: run python assets/make_nli.py")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
