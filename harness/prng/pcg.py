"""The 128-bit permuted congruential generator with the DXSM output function.

It is the generator of Go's ``math/rand/v2``: one congruential step, then the two halves of the
new state are multiplied and folded into a word. Bounded draws are Lemire's multiply-and-reject.
"""

from __future__ import annotations

from collections.abc import MutableSequence

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_INCREMENT = 0x5851F42D4C957F2D14057B7EF767814F
_OUTPUT = 0xDA942042E4DD58B5
_WORD = (1 << 64) - 1
_STATE = (1 << 128) - 1


class Pcg:
    """A stream of 64-bit words.

    Nothing is cached or split: every draw consumes whole words, and equal seeds yield equal words.
    """

    __slots__ = ("_state",)

    def __init__(self, p: int, q: int) -> None:
        """Seed with the upper and the lower half of the state.

        Args:
            p: upper 64 bits.
            q: lower 64 bits.

        Raises:
            ValueError: a half is negative or does not fit into 64 bits.
        """
        if not (0 <= p <= _WORD and 0 <= q <= _WORD):
            raise ValueError(f"({p}, {q}) is not a pair of unsigned 64-bit numbers")
        self._state = p << 64 | q

    def word(self) -> int:
        """Return the next word, 0 to 2**64 - 1."""
        return self.words(1)[0]

    def words(self, count: int) -> list[int]:
        """Return the next `count` words."""
        state = self._state
        words = []
        for _ in range(count):
            state = (state * _MULTIPLIER + _INCREMENT) & _STATE
            high = state >> 64
            high ^= high >> 32
            high = high * _OUTPUT & _WORD
            high ^= high >> 48
            words.append(high * (state & _WORD | 1) & _WORD)
        self._state = state
        return words

    def below(self, bound: int) -> int:
        """Return a number from 0 to `bound` - 1.

        At least one word is consumed, for a bound of 1 as well.

        Raises:
            ValueError: `bound` is smaller than 1 or larger than 2**64.
        """
        if not 1 <= bound <= _WORD + 1:
            raise ValueError(f"a bounded draw needs a bound from 1 to 2**64, not {bound}")
        if bound & (bound - 1) == 0:
            return self.word() & (bound - 1)
        product = self.word() * bound
        if product & _WORD < bound:
            limit = (_WORD + 1) % bound
            while product & _WORD < limit:
                product = self.word() * bound
        return product >> 64

    def shuffle(self, items: MutableSequence[int]) -> None:
        """Shuffle in place, from the last place down."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def permutation(self, count: int) -> list[int]:
        """Return the numbers 0 to `count` - 1 in random order."""
        numbers = list(range(count))
        self.shuffle(numbers)
        return numbers
