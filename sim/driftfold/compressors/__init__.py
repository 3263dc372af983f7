"""Compressors: tangent vectors in fewer bytes."""

from driftfold.compressors.base import Compressor
from driftfold.compressors.quantiser import Quantiser
from driftfold.compressors.rank_k import RankK
from driftfold.compressors.top_k import TopK

__all__ = ["Compressor", "Quantiser", "RankK", "TopK"]
