"""MIMIC-III: the first day of intensive-care stays, with mortality and two groups of diagnoses to predict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, Standardisation, shuffled, tensors
from molyneux.data.formats.mapped_files import blocks
from molyneux.data.formats.restricted_pickle import read_pickle

FILE = "im.pk"
_KEYS = ("ep_tdata", "adm_features_all", "adm_labels_all", "y_icd9")
GROUPS = (1, 7)
_MORTALITY = ("survived a year", "1 day", "2 days", "3 days", "1 week", "1 year")
_SPLIT_SEED = 10
STATIC, HOURS, SERIES, CODES = 5, 24, 12, 20


@final
class MIMIC(FileBenchmark):
    """Intensive-care stays of MIMIC-III: 36,212 admissions; Johnson et al. (Scientific Data, 2016), Purushotham et al. (2018).

    Layout: the pickle `im.pk`, a dictionary of `ep_tdata` (N, 24, 12), hourly measurements; `adm_features_all` (N, 5);
    `adm_labels_all` (N, >= 6), whose columns 1 to 5 say that the patient died within a day, two, three, a week, a year; and
    `y_icd9` (N, 20), groups of diagnoses. It is read without running code, and its arrays stay in the file.

    Modalities are `static` (5,) and `series` (24, 12). There are three targets, each a class: `mortality`, the first of the six
    periods that holds; and `icd9_group_1` (columns 1 of `y_icd9`, codes 140-239) and `icd9_group_7` (460-519), yes or no.

    Infinite and missing values are 0, as published; a column with no number at all is refused. Then columns get mean 0 and
    standard deviation 1 **of the training split**; the published loader takes those of all splits together, which lets
    test values into training. The order of samples is that of `random.seed(10)` and `random.shuffle`; the first tenth validates,
    the second tests, the rest trains.

    Args:
        folder: see `FileBenchmark`.
        standardise: whether columns are standardised.
    """

    name = "mimic-v1"
    licence = "PhysioNet Credentialed Health Data License; no redistribution"
    origin = (
        "MIMIC-III (Johnson et al., Scientific Data 3, 2016), prepared by Purushotham et al. (J. Biomedical Informatics 83, 2018)"
    )
    page = "https://physionet.org/content/mimiciii/"
    metric = "accuracy; AUPRC for the groups of diagnoses"
    sizes = "28,970 / 3,621 / 3,621"
    folders = ("mimic", "mimic-iii")
    files = (FILE,)
    published_as = (
        f"the file that https://github.com/USC-Melady/Benchmarking_DL_MIMICIII makes of MIMIC-III, which {page} gives to "
        "credentialed users"
    )

    def __init__(self, folder: Path | None = None, *, standardise: bool = True) -> None:
        super().__init__(folder, {"standardise": standardise})

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        path = paths[FILE]
        mapped, found = read_pickle(path)
        series, static, deaths, groups = self.known(found, _KEYS, path)
        series = self.array(series, (None, None, None), f"{path}, ep_tdata")
        count = len(series)
        static = self.array(static, (count, None), f"{path}, adm_features_all")
        deaths, groups = (
            self._labels(labels, count, f"{path}, {key}") for labels, key in ((deaths, _KEYS[2]), (groups, _KEYS[3]))
        )
        for name, values in (("ep_tdata", series), ("adm_features_all", static)):
            self._check_columns(values, f"{path}, {name}")
            mapped.release()
        order = shuffled(count, _SPLIT_SEED)
        tenth, fifth = count // 10, count // 5
        rows = {"train": order[fifth:], "validation": order[:tenth], "test": order[tenth:fifth]}
        views = {"static": static, "series": series}
        scales = {name: self._scale(values, rows["train"]) for name, values in views.items()}
        targets = {
            "mortality": np.where((deaths[:, 1:6] > 0).any(1), (deaths[:, 1:6] > 0).argmax(1) + 1, 0),
            **{f"icd9_group_{group}": (groups[:, group] > 0).astype(np.int64) for group in GROUPS},
        }
        spec = Spec(
            (Modality("static", "tabular", static.shape[1:]), Modality("series", "series", series.shape[1:])),
            targets=tuple(Target(name, "class", _MORTALITY if name == "mortality" else ("no", "yes")) for name in targets),
        )

        def read(rows: np.ndarray) -> Batch:
            shown = {name: scales[name](_filled(values[rows])) for name, values in views.items()}
            return Batch(tensors(**shown), targets=tensors(**{name: values[rows] for name, values in targets.items()}))

        return FileSamples(spec, rows, read, [mapped])

    def _labels(self, found: object, count: int, where: str) -> np.ndarray:
        """Labels (N, at least 6 or 8 columns); of groups of diagnoses, the columns must be 0 or 1."""
        labels = self.array(found, (count, None), where)
        needed = 6 if where.endswith(_KEYS[2]) else max(GROUPS) + 1
        if labels.shape[1] < needed:
            raise self.wrong(where, f"at least {needed} columns", f"{labels.shape}")
        if where.endswith(_KEYS[2]):
            self.finite(labels[:, 1:6], where)
            return np.array(labels)
        for column in GROUPS:
            self.codes(labels[:, column], 2, f"{where}, column {column}")
        return np.array(labels)

    def _check_columns(self, values: np.ndarray, where: str) -> None:
        known = np.zeros(values.shape[-1], bool)
        for block in blocks(values):
            known |= np.isfinite(block).reshape(-1, len(known)).any(0)
        if not known.all():
            raise self.wrong(where, "numbers in every column", f"none in column {int(np.flatnonzero(~known)[0])}")

    def _scale(self, values: np.ndarray, train: np.ndarray) -> Standardisation:
        if not self._settings["standardise"] or not len(train):
            return Standardisation(np.zeros(1), np.ones(1))
        return Standardisation.of(_filled(block) for block in blocks(values, train))


def _filled(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, 0.0)
