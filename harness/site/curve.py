"""A loss curve as inline SVG: broken against fixed, with the loss of a guess drawn in.

The two lines differ in colour (a pair that colour-blind readers can tell apart), in dashes and in their direct labels; colours come from
the style sheet, so that they follow light and dark mode.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from harness.site.text import Words

_WIDTH, _HEIGHT = 640, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 96, 16, 40
_SMOOTH = 5


def smoothed(losses: Sequence[float | None]) -> list[tuple[int, float]]:
    """(step, mean of the last few finite losses) pairs; steps without a finite loss are left out.

    >>> smoothed([2.0, 1.0, None, float("nan"), 0.0])
    [(1, 2.0), (2, 1.5), (5, 1.0)]
    """
    recent: list[float] = []
    found = []
    for step, loss in enumerate(losses, 1):
        if loss is None or not math.isfinite(loss):
            continue
        recent = [*recent, loss][-_SMOOTH:]
        found.append((step, math.fsum(recent) / len(recent)))
    return found


def first_bad(losses: Sequence[float | None]) -> int | None:
    """First step (1-based) whose loss is NaN or infinite."""
    return next((step for step, loss in enumerate(losses, 1) if loss is not None and not math.isfinite(loss)), None)


def svg(broken: Sequence[float | None], fixed: Sequence[float | None], chance: float | None, classes: int | None, words: Words) -> str:
    """The figure with its caption and alternative text; losses in nats, one per optimizer step."""
    lines = {"broken": smoothed(broken), "fixed": smoothed(fixed)}
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    steps = max(len(broken), len(fixed), 2)
    high = max([loss for _, loss in points] + ([chance * 1.1] if chance else []))
    low = min(0.0, *(loss for _, loss in points))
    plot = _Plot(steps, low, high * 1.05)
    parts = [plot.axes(words)]
    for name, line in lines.items():
        if line:
            parts.append(plot.line(name, line, words(name)))
    if chance is not None:
        parts.append(plot.level(chance, words("a guess: ln {classes} = {chance}", classes=classes, chance=f"{chance:.2f}")))
    bad = first_bad(broken)
    if bad is not None:
        parts.append(plot.cross(bad, words("NaN from step {step} on", step=bad)))
    text = describe(broken, fixed, chance, classes, words)
    return (f'<figure class="zoo-curve"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(text)}">'
            f'{"".join(parts)}</svg><figcaption>{html.escape(text)}</figcaption></figure>')


def describe(broken: Sequence[float | None], fixed: Sequence[float | None], chance: float | None, classes: int | None, words: Words) -> str:
    """The curve in words."""
    said = []
    last, bad = smoothed(broken), first_bad(broken)
    if bad is not None:
        said.append(words("Broken: the loss is NaN from step {step} on.", step=bad))
    elif last:
        said.append(words("Broken: the loss goes from {first} to {last} in {steps} steps.", first=f"{last[0][1]:.2f}",
                          last=f"{last[-1][1]:.2f}", steps=len(broken)))
    else:
        said.append(words("Broken: the run ends before its first step."))
    good = smoothed(fixed)
    if good:
        said.append(words("Fixed: from {first} to {last} in {steps} steps.", first=f"{good[0][1]:.2f}", last=f"{good[-1][1]:.2f}",
                          steps=len(fixed)))
    if chance is not None:
        said.append(words("The dotted line is the loss of a guess, ln {classes} = {chance}.", classes=classes, chance=f"{chance:.4f}"))
    return " ".join(said)


class _Plot:
    def __init__(self, steps: int, low: float, high: float) -> None:
        self._steps, self._low, self._high = steps, low, high

    def _x(self, step: float) -> float:
        return _LEFT + (step - 1) / (self._steps - 1) * (_WIDTH - _LEFT - _RIGHT)

    def _y(self, loss: float) -> float:
        return _HEIGHT - _BOTTOM - (loss - self._low) / (self._high - self._low) * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, words: Words) -> str:
        unit = 0.25 if self._high < 1.2 else 0.5 if self._high < 3 else 1.0 if self._high < 6 else 2.0
        ticks = [index * unit for index in range(int(self._high / unit) + 1)]
        found = [f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{self._y(t):.1f}" y2="{self._y(t):.1f}"/>'
                 f'<text x="{_LEFT - 6}" y="{self._y(t) + 4:.1f}" text-anchor="end">{t:g}</text>' for t in ticks]
        below = _HEIGHT - _BOTTOM + 16
        found += [f'<text x="{self._x(step):.1f}" y="{below}" text-anchor="middle">{step}</text>' for step in (1, self._steps)]
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        found.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{html.escape(words("optimizer step"))}</text>')
        return "".join(found)

    def level(self, loss: float, label: str) -> str:
        y = self._y(loss)
        return (f'<line class="chance" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text x="{_WIDTH - _RIGHT - 10}" y="{y + 16:.1f}" text-anchor="end">{html.escape(label)}</text>')

    def line(self, name: str, points: list[tuple[int, float]], label: str) -> str:
        path = " ".join(f"{self._x(step):.1f},{self._y(loss):.1f}" for step, loss in points)
        x, y = self._x(points[-1][0]), self._y(points[-1][1])
        return (f'<polyline class="{name}" points="{path}"/><circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
                f'<text class="{name}" x="{x + 8:.1f}" y="{y + 4:.1f}">{html.escape(label)}</text>')

    def cross(self, step: int, label: str) -> str:
        x, y = self._x(step) + 8, self._y(self._low) - 14
        return (f'<path class="broken" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
                f'<text class="broken" x="{x + 10:.1f}" y="{y + 4:.1f}">{html.escape(label)}</text>')
