"""Ratings, a taxonomy, and matrices."""

from driftfold.data.catalogue.entry import DataFile, Entry, Form, Package

_GROUPLENS = "GroupLens terms of use: research, no redistribution (Harper and Konstan 2015)"

MOVIELENS_100K = Entry(
    name="movielens_100k",
    title="MovieLens-100K: 100,000 ratings, 943 users, 1,682 films",
    purpose="low-rank matrix completion",
    licence=_GROUPLENS,
    redistribution="no",
    forms=(
        Form(
            "inter",
            (
                DataFile(
                    "ml-100k.inter",
                    1_979_230,
                    sha256="4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff",
                ),
            ),
        ),
        Form(
            "data",
            (
                DataFile(
                    "u.data",
                    1_979_173,
                    sha256="06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
                ),
            ),
        ),
    ),
    obtain="put u.data of ml-100k.zip (MD5 0e33842e24a9c977be4e0107933c0723) into the folder",
    package=Package(
        client="pip",
        name="recbole",
        version="1.2.1",
        members=("recbole/dataset_example/ml-100k/ml-100k.inter",),
        size=2_130_151,
    ),
)

MOVIELENS_1M = Entry(
    name="movielens_1m",
    title="MovieLens-1M: 1,000,209 ratings, 6,040 users, 3,706 rated films",
    purpose="low-rank matrix completion",
    licence=_GROUPLENS,
    redistribution="no",
    # No checksum of this file is published; its reader counts users, films and stars instead.
    forms=(Form("dat", (DataFile("ratings.dat", 24_594_131),)),),
    obtain=(
        "put ratings.dat of ml-1m.zip (MD5 c4d9eecfca2ab87c1945afe126590906) into the folder; "
        "'movielens_100k' and 'synthetic_long_tail' stand in"
    ),
)

WORDNET_MAMMALS = Entry(
    name="wordnet_mammals",
    title="WordNet mammals: 1,180 nouns, 6,540 is-a pairs",
    purpose="hyperbolic embedding and structured prediction",
    licence="WordNet 3.0 licence (Princeton University)",
    redistribution="yes",
    forms=(),
    obtain="",
)

COLON_TILES = Entry(
    name="colon_tiles",
    title="Colon slide: one stained 512 x 512 RGB image of colonic glands",
    purpose="SPD descriptors of real tissue; stands in for PathMNIST",
    licence="no known copyright restrictions (CMMI; from scikit-image)",
    redistribution="yes",
    forms=(),
    obtain="",
)

_GEOMSTATS = "geomstats/datasets/data"

EMG = Entry(
    name="emg",
    title="Muscle signals: 731,682 samples of 8 electrodes, 2 people x 2 sessions",
    purpose="SPD covariances with four natural clients",
    licence="as distributed by geomstats (MIT); terms of the recordings are not stated",
    redistribution="unclear",
    forms=(
        Form(
            "csv",
            (
                DataFile(
                    "emg.csv",
                    36_374_543,
                    sha256="7f80636be3dc37770da73ca8456ddaad9a0b752ec34b51903f33cf05bdc5ca9a",
                ),
            ),
        ),
    ),
    obtain="put emg.csv of the package geomstats 2.8.0 into the folder",
    package=Package(
        client="pip",
        name="geomstats",
        version="2.8.0",
        members=(f"{_GEOMSTATS}/emg/emg.csv",),
        size=10_467_124,
    ),
)

CONNECTOMES = Entry(
    name="connectomes",
    title="Connectomes: 86 correlation matrices of 28 brain networks, 46 control, 40 patient",
    purpose="ill-conditioned SPD matrices with two classes",
    licence="from a contest of 2014 on schizophrenia classification; terms are the contest's",
    redistribution="unclear",
    forms=(
        Form(
            "csv",
            (
                DataFile(
                    "train_FNC.csv",
                    278_350,
                    sha256="98a002348c9be8bede424606f4dc4f3a53e5d4314b9b0cca70f0b0e34fce55ff",
                ),
                DataFile(
                    "train_labels.csv",
                    870,
                    sha256="4bec4775433672df04444066e0625c3198db3274a93c40a8d98676cf380276fc",
                ),
            ),
        ),
    ),
    obtain="put train_FNC.csv and train_labels.csv of the package geomstats 2.8.0 into the folder",
    package=Package(
        client="pip",
        name="geomstats",
        version="2.8.0",
        members=(
            f"{_GEOMSTATS}/connectomes/train_FNC.csv",
            f"{_GEOMSTATS}/connectomes/train_labels.csv",
        ),
        size=10_467_124,
    ),
)

MAMMAL_POINTS = Entry(
    name="mammal_points",
    title="A published Poincare embedding of the WordNet mammals: 1,180 points of the disk",
    purpose="hyperbolic structured prediction on the labels of the published experiment",
    licence="none stated by the authors of RFedAGS",
    redistribution="unclear",
    forms=(Form("npz", (DataFile("hsp_mammals.npz"),)),),
    obtain=(
        "write one with numpy.savez('hsp_mammals.npz', names=..., poincare_points=...) from the "
        "authors' spreadsheets; without it, train an embedding of 'wordnet_mammals'"
    ),
)

OTHER_SETS = (
    MOVIELENS_100K,
    MOVIELENS_1M,
    WORDNET_MAMMALS,
    MAMMAL_POINTS,
    COLON_TILES,
    EMG,
    CONNECTOMES,
)
