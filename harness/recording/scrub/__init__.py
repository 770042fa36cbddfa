"""Taking private details out of a recording, so that it can be handed on.

Nothing is kept because nobody thought of it: a text stays only where a rule knows it to say
nothing about anybody. Everything else becomes a pseudonym, or goes.
"""

from harness.recording.scrub.check import findings
from harness.recording.scrub.pseudonyms import Pseudonyms, PseudonymsError
from harness.recording.scrub.run import scrub

__all__ = ["Pseudonyms", "PseudonymsError", "findings", "scrub"]
