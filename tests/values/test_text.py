"""What counts as text, and what its numbers say."""

import numpy as np

from kernelwise.values.text import N_DIRECTIONS, Text, is_text

PLANTS = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "nut", "hop"]


def sentences(n):
    rng = np.random.default_rng(0)
    words = rng.choice(PLANTS, (n, 4))
    return np.array([" and ".join(own) for own in words], dtype=object)


def test_text_is_many_different_words_in_a_row():
    texts = sentences(200)
    assert is_text(texts)
    assert is_text(np.where(np.arange(200) % 3 > 0, texts, ""))
    assert not is_text(texts[:30])  # few
    for words in (
        [f"town {k}" for k in range(200)],  # differ in digits
        [f"{k:032x}" for k in range(200)],  # keys
        [f"w{'abcdefghij'[k % 10]}{'klmnopqrst'[k // 10 % 10]}" for k in range(200)],  # one word
        list(texts[:20]) * 10,  # repeated levels
    ):
        assert not is_text(np.array(words, dtype=object)), words[0]


def test_similar_texts_have_similar_numbers():
    texts = sentences(300)
    found = Text.of(texts)
    assert found.size == len(PLANTS) <= N_DIRECTIONS  # the rank of the counts
    numbers = found.apply(np.array(["oak and oak", "oaks and oaks", "fig and fig", "", "???"]))
    assert numbers.shape == (5, found.size)
    near, far = (np.linalg.norm(numbers[0] - numbers[k]) for k in (1, 2))
    assert near < 0.6 * far
    assert (numbers[3:] == 0).all()
