"""Text as a few numbers: how often its pieces of words occur, reduced to directions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array

N_DIRECTIONS = 30  # numbers that a column of text becomes
_MIN_TEXTS = 40  # different texts below which they are the levels of a category
_MIN_SHARE = 0.3  # share of different texts among all, for the same
_SEVERAL = 0.5  # share of texts that have to be of several words, or long
_LONG = 40  # characters of a long text
_MOST_PIECES = 5_000  # pieces of words that are counted, the most frequent ones
_N_LEARNED = 20_000  # texts that the directions are learned from
_LETTERS = (3, 4)  # letters of a piece
_MIN_DIRECTION = 1e-5  # size of a direction relative to the largest, below which it is rounding
_DIGITS = re.compile(r"\d+")


def is_text(words: Any) -> bool:
    """Return whether words are text: many different ones, most of several words or long.

    Words that differ in their digits, or long ones of one length, such as keys, are none.
    """
    present = words[words != ""]
    different = set(present)
    least = max(_MIN_TEXTS, _MIN_SHARE * len(present))
    if len(different) < least or len({_DIGITS.sub("", text) for text in different}) < least:
        return False
    vary = len(set(map(len, different))) > 1
    several = [" " in text or (vary and len(text) >= _LONG) for text in different]
    return sum(several) >= _SEVERAL * len(different)


@dataclass(frozen=True)
class Text:
    """What turns text into numbers: weighted counts of pieces of words, along some directions."""

    pieces: tuple[str, ...]  # pieces of words, of three and four letters
    weights: Array  # (n_pieces,): the weight of each, the larger the fewer texts have it
    directions: Array  # (n_pieces, k), in float32

    @classmethod
    def of(cls, texts: Any) -> Text:
        """Learn pieces and directions."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        some = texts[:: -(-len(texts) // _N_LEARNED)]
        counter = TfidfVectorizer(
            analyzer="char_wb", ngram_range=_LETTERS, max_features=_MOST_PIECES
        )
        counts = counter.fit_transform(some)
        k = min(N_DIRECTIONS, counts.shape[1], len(some))
        svd = TruncatedSVD(k, random_state=0).fit(counts)
        # Beyond the rank of the counts all numbers are rounding, which scores would blow up.
        real = svd.singular_values_ > _MIN_DIRECTION * svd.singular_values_[0]
        directions = np.asarray(svd.components_[real].T, dtype=np.float32)
        return cls(tuple(counter.get_feature_names_out().tolist()), counter.idf_, directions)

    @property
    def size(self) -> int:
        """The number of directions."""
        return int(self.directions.shape[1])

    def apply(self, texts: Any) -> Array:
        """Return the numbers of texts, of shape (n, size); zeros where one is missing."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        counter = CountVectorizer(analyzer="char_wb", ngram_range=_LETTERS, vocabulary=self.pieces)
        counts = counter.transform(texts).astype(np.float64)
        weighted = normalize(counts.multiply(self.weights).tocsr())
        out: Array = np.asarray(weighted @ self.directions.astype(np.float64))
        return out
