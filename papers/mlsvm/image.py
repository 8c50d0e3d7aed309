"""A hyperspectral image: its labelled pixels as rows, and maps of it as records."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache
from typing import Any
from zlib import compress, decompress

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize, scale

from localsvm.data import load_benchmark
from papers._measures import Fitted

SHAPE = (145, 145)
_SOYBEANS = (10, 11, 12)
# Near infrared, red, green: vegetation is red.
_PSEUDO_BANDS = (50, 27, 17)
NO_LABEL = 255


def load_soybeans() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Load the labelled pixels of Indian Pines, soybeans (1) against all else (0)."""
    spectra, labels = _image()
    labelled = labels != NO_LABEL
    return spectra[labelled], labels[labelled].astype(np.int64)


def image_map(fitted: Fitted) -> Mapping[str, Any]:
    """Give the predicted class of every pixel, and the CPU seconds of that."""
    spectra, _ = _image()
    start = time.process_time()
    predicted = fitted.model.predict(spectra)
    seconds = time.process_time() - start
    return {"image_seconds": seconds, "predicted": {"map": _encode(predicted)}}


def image_itself(fitted: Fitted) -> Mapping[str, Any]:
    """Give the image in false colours, and the labels."""
    del fitted
    bands = load_benchmark("indian_pines").X_train[:, _PSEUDO_BANDS].astype(float)
    low, high = np.percentile(bands, (2, 98), axis=0)
    # 32 levels are enough to see, and small.
    colors = 8 * np.round(31 * np.clip((bands - low) / (high - low), 0, 1))
    return {"image": {"colors": _encode(colors), "labels": _encode(_image()[1])}}


def read_map(record: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Give what :func:`image_map` measured, as lines and columns of pixels."""
    return _decode(record["arrays"]["predicted"]["map"])


def read_image(
    record: Mapping[str, Any],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Give colours and labels, if :func:`image_itself` was measured."""
    image = record["arrays"].get("image")
    return image and (_decode(image["colors"]), _decode(image["labels"]))


@cache
def _image() -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Spectra of all pixels, and their classes.

    Unit norm takes away how bright a pixel is; bands are standardised over the image.
    """
    data = load_benchmark("indian_pines")
    spectra = scale(normalize(data.X_train.astype(np.float64)))
    labels = np.isin(data.y_train, _SOYBEANS).astype(np.uint8)
    labels[data.y_train == 0] = NO_LABEL
    return spectra.astype(np.float32), labels


def _encode(values: Any) -> str:
    return b64encode(compress(np.asarray(values).astype(np.uint8).tobytes())).decode()


def _decode(text: str) -> NDArray[np.uint8]:
    values = np.frombuffer(decompress(b64decode(text)), np.uint8)
    return values.reshape(*SHAPE, -1).squeeze()
