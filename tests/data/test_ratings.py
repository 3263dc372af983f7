import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftfold.data import (
    LongTailRatings,
    LowRankRatings,
    Ratings,
    hold_out,
    ratings_of,
    standardised,
)
from driftfold.errors import DataError, SpecError
from driftfold.rng import Seed

places = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 40)), min_size=1, max_size=60)


@given(places=places, order=st.randoms(use_true_random=False))
def test_entries_are_sorted_by_user_and_item(places: set[tuple[int, int]], order: Random) -> None:
    given = list(places)
    order.shuffle(given)
    user, item = zip(*given, strict=True)
    value = [100.0 * u + i for u, i in given]
    ratings = ratings_of(user, item, value, users=7, items=41)
    assert list(zip(ratings.user.tolist(), ratings.item.tolist(), strict=True)) == sorted(places)
    assert ratings.value.tolist() == [100.0 * u + i for u, i in sorted(places)]
    for j, (start, end) in enumerate(pairwise(ratings.starts.tolist())):
        assert set(ratings.user[start:end].tolist()) <= {j}
    assert ratings.starts[-1] == len(places)


@given(places=places, share=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5]), seed=st.integers(0, 9))
def test_of_each_users_n_ratings_the_share_is_held_out_rounded_down(
    places: set[tuple[int, int]], share: float, seed: int
) -> None:
    user, item = zip(*places, strict=True)
    ratings = hold_out(ratings_of(user, item, np.ones(len(user)), 7, 41), share, Seed(seed))
    for j in range(7):
        own = ratings.test[ratings.user == j]
        # From the decimal fraction, free of the rounding of 0.8 * n.
        assert (~own).sum() == math.ceil(len(own) * (10 - round(share * 10)) / 10)
    train, test = ratings.part(test=False), ratings.part(test=True)
    assert len(train.value) + len(test.value) == len(places)
    assert test.test.all()
    assert not train.test.any()


def test_who_is_held_out_does_not_depend_on_other_users() -> None:
    many = ratings_of([0] * 20 + [1] * 20, [*range(20)] * 2, np.ones(40), 2, 20)
    one = ratings_of([1] * 20, range(20), np.ones(20), 2, 20)
    both = hold_out(many, 0.25, Seed(3)).test[20:]
    assert both.tolist() == hold_out(one, 0.25, Seed(3)).test.tolist()
    assert both.tolist() != hold_out(one, 0.25, Seed(4)).test.tolist()


def test_z_scores_can_be_undone() -> None:
    stars = np.array([1.0, 5.0, 3.0, 3.0, 2.0])
    ratings = standardised(ratings_of([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], stars, 2, 3))
    assert abs(ratings.value.mean()) < 1e-15
    assert abs(ratings.value.std() - 1) < 1e-15
    again = standardised(ratings)
    for each in (ratings, again):
        assert np.allclose(each.value * each.scale + each.mean, stars, atol=1e-14)


@pytest.mark.parametrize(
    ("user", "item", "value", "message"),
    [
        ([], [], [], "at least one"),
        ([0, 1], [0], [1.0, 2.0], "2 users, 1 items and 2 values"),
        ([0, 2], [0, 0], [1.0, 1.0], r"users 0 \.\. 2 and items 0 \.\. 0; wanted 0 \.\. 1"),
        ([0, -1], [0, 0], [1.0, 1.0], r"users -1 \.\. 0"),
        ([0], [3], [1.0], r"wanted 0 \.\. 1 and 0 \.\. 2"),
        ([0, 1], [0, 0], [1.0, np.nan], "hold numbers of size nan"),
        ([1, 0, 1], [2, 2, 2], [1.0, 2.0, 3.0], "user 1 rates item 2 more than once"),
    ],
)
def test_other_entries_are_refused(
    user: list[int], item: list[int], value: list[float], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        ratings_of(user, item, value, users=2, items=3)


def test_the_published_synthetic_problem() -> None:
    """RFedAGS: m = 200, n = 2,000, r = 5, 65,850 entries, noise 1e-6."""
    ratings = LowRankRatings().load(Seed(1))
    assert (ratings.items, ratings.users, len(ratings.value)) == (200, 2000, 65_850)
    assert not ratings.test.any()
    assert ratings.truth is not None
    a, b = ratings.truth
    whole = a @ b.T
    assert np.linalg.matrix_rank(whole) == 5
    error = ratings.value - whole[ratings.item, ratings.user]
    # 65,850 draws: the sample's deviation is within 1.5% of 1e-6 (five standard errors).
    assert abs(error.std() / 1e-6 - 1) < 0.015
    # Entries lie uniformly: 33 of each user's 200 on average, deviation 5.2 without replacement.
    counts = np.diff(ratings.starts)
    assert abs(counts.std() / math.sqrt(200 * 0.1646 * 0.8354) - 1) < 0.1


def test_synthetic_sizes_must_fit() -> None:
    with pytest.raises(SpecError, match="has no rank 6"):
        LowRankRatings(items=5, users=9, rank=6).load(Seed(0))
    with pytest.raises(SpecError, match="lower 'oversampling'"):
        LowRankRatings(items=5, users=9, rank=2).load(Seed(0))
    with pytest.raises(SpecError, match="fewest < typical <= items"):
        LongTailRatings(items=10).load(Seed(0))


@pytest.fixture(scope="module")
def stand_in() -> Ratings:
    return LongTailRatings(users=300, items=400, standardise=False).load(Seed(5))


def test_the_stand_in_has_stars_and_a_long_tail(stand_in: Ratings) -> None:
    assert set(stand_in.value.tolist()) == {1.0, 2.0, 3.0, 4.0, 5.0}
    counts = np.diff(stand_in.starts)
    assert counts.min() >= 20
    # The median of 300 log-normal draws: one standard error is a tenth of (65 - 20).
    assert 50 < np.median(counts) < 80
    popular = np.sort(np.bincount(stand_in.item, minlength=400))[::-1]
    assert popular[:40].sum() > 3 * popular[-200:].sum() / 5
    assert np.bincount(stand_in.item, minlength=400)[:40].sum() > 0.2 * len(stand_in.value)


def test_ratings_of_the_stand_in_share_a_taste(stand_in: Ratings) -> None:
    """Biases of users and items explain a good part of the variance, not all of it."""
    value = stand_in.value - stand_in.value.mean()
    left = value.copy()
    for group in (stand_in.user, stand_in.item):
        left -= (np.bincount(group, left) / np.maximum(np.bincount(group), 1))[group]
    assert 0.4 < (left**2).sum() / (value**2).sum() < 0.9
