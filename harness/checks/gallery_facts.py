"""What is known of rankings of one set of rows against another."""

from __future__ import annotations

from harness.checks.tensor_facts import Facts, Site


class GalleryFacts(Facts):
    """A table of likenesses (cosines, or distances where `distances`) of `queries` rows with `gallery` rows was ranked: of `found` queries
    the best is a row that is the very same vector. `site`: where it was ranked."""

    queries: int
    gallery: int
    found: int
    distances: bool = False
    site: Site | None = None
