"""Sets of texts as vectors, and the encoders that make these."""

from driftfold.data.texts.bbc_news import BbcNews
from driftfold.data.texts.encoder import Encoder
from driftfold.data.texts.hashed_words import HashedWords
from driftfold.data.texts.mini_lm import MiniLm
from driftfold.data.texts.newsgroups import Newsgroups
from driftfold.data.texts.reuters import R8, R52
from driftfold.data.texts.spam_assassin import SpamAssassin
from driftfold.data.texts.word_llama import WordLlama

__all__ = [
    "R8",
    "R52",
    "BbcNews",
    "Encoder",
    "HashedWords",
    "MiniLm",
    "Newsgroups",
    "SpamAssassin",
    "WordLlama",
]
