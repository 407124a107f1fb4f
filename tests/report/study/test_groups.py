from dataclasses import replace

from molyneux.core import Score
from molyneux.report.published import published
from molyneux.report.study.groups import divide, find_axes, group_runs, label

MODEL, LEVEL = "learn.model.class_path", "data.world.init_args.level"
BETA, LATENT = "learn.model.init_args.beta", "learn.model.init_args.latent_dim"


def test_seeds_alone_are_one_group(study_of):
    runs = [study_of(seed) for seed in (1, 2, 3)]
    assert find_axes(runs) == []
    (group,) = group_runs(runs, [])
    assert len(group.runs) == 3
    assert label(group, []) == "all runs"


def test_model_and_level_come_first_and_settings_that_follow_are_no_axes(study_of):
    runs = [
        study_of(
            seed,
            learn__model__class_path=model,
            data__world__init_args__level=level,
            learn__model__init_args__private_dim=8 if model == "DMVAE" else None,
            learn__epochs=10 * level,
        )
        for level in (2, 1)
        for model in ("MVAE", "DMVAE")
        for seed in (1, 2)
    ]
    axes = find_axes(runs)
    assert [axis.path for axis in axes] == [MODEL, LEVEL]
    assert axes[1].values == ("1", "2")
    groups = group_runs(runs, axes)
    assert [(group.values[MODEL], group.values[LEVEL]) for group in groups] == [
        ("MVAE", "1"),
        ("MVAE", "2"),
        ("DMVAE", "1"),
        ("DMVAE", "2"),
    ]
    assert all(len(group.runs) == 2 for group in groups)
    assert label(groups[0], axes) == "MVAE"


def test_numbers_are_ordered_as_numbers(study_of):
    runs = [study_of(1, learn__model__init_args__latent_dim=size) for size in (100, 24, 8)]
    (axis,) = find_axes(runs)
    assert (axis.path, axis.values, axis.title) == (LATENT, ("8", "24", "100"), "latent dim")


def test_a_setting_that_some_runs_lack_is_an_axis(study_of):
    runs = [study_of(1), study_of(1, learn__model__init_args__warm_up=5)]
    (axis,) = find_axes(runs)
    assert axis.values == ("\u2013", "5")


def test_settings_that_change_together_are_called_by_the_name_of_the_run(study_of):
    published = {"learn__batch_size": 24, "learn__rate": 1e-4, "name": "published"}
    runs = [study_of(1, name="ours", learn__batch_size=128, learn__rate=1e-3), study_of(1, **published)]
    (axis,) = find_axes(runs)
    assert (axis.path, axis.title, axis.values) == ("name", "variant", ("ours", "published"))
    assert label(group_runs(runs, [axis])[1], [axis]) == "published"


def test_variants_have_the_names_of_their_file_even_where_one_setting_or_the_model_says_as_much(study_of):
    runs = [study_of(1, name=f"{word}-long", learn__epochs=count) for count, word in ((2, "twice"), (1, "once"))]
    (axis,) = find_axes(runs)
    assert (axis.path, axis.values) == ("name", ("twice-long", "once-long"))
    runs = [study_of(1, name=name, learn__model__class_path=model) for name, model in (("small", "MVAE"), ("other", "VAE"))]
    assert [axis.values for axis in find_axes(runs)] == [("small", "other")]


def test_a_prior_that_was_fitted_is_told_where_other_groups_have_none(study_of):
    fitted = {"learn__model__init_args__prior__components": 64}
    runs = [study_of(1, name="plain"), study_of(1, name="tuned", **fitted), study_of(1, name="prior-fitted", rate=1, **fitted)]
    (part,) = divide(runs)
    assert [part.label(group) for group in part.groups] == ["plain", "tuned (fitted prior)", "prior-fitted"]
    (part,) = divide(runs[1:])
    assert [part.label(group) for group in part.groups] == ["tuned", "prior-fitted"]


def test_names_alone_make_no_groups(study_of):
    runs = [study_of(seed, name=f"run{seed}") for seed in (1, 2)]
    assert find_axes(runs) == []


def test_a_class_has_a_published_name_only_where_classes_were_published(study_of):
    def called(name, model, board):
        (group,) = group_runs([study_of(1, name=name, learn__model__class_path=model)], [])
        return group.published_as(board)

    by_class, by_variant = published("cdsprites", "1"), published("ynoc", "")
    assert called("mine", "MVAE", by_class) == "MVAE"
    assert called("mine", "VAE", by_variant) == ""
    assert called("VAE", "VAE", by_variant) == "VAE"
    assert called("beta-0.4", "VAE", by_variant) == "beta-0.4"
    assert called("mine", "MVAE", None) == ""


def test_groups_of_a_data_set_are_parts_as_levels_are(study_of):
    """Runs may be called alike in all parts, as the methods of a study of several data sets are."""
    group = "data__benchmark__init_args__group"
    runs = [
        study_of(1, name=name, learn__rate=rate, **{group: value})
        for value in ("food", "tech")
        for name, rate in (("EF", 0.1), ("LF", 0.2))
    ]
    parts = divide(runs)
    assert [part.title for part in parts] == ["Group food", "Group tech"]
    assert [[part.label(item) for item in part.groups] for part in parts] == [["EF", "LF"], ["EF", "LF"]]


def test_levels_are_apart_even_if_every_variant_has_its_own(study_of):
    """Chance and controls of one table are those of one level."""
    runs = [study_of(1, name=f"on {level}", data__world__init_args__level=level, learn__rate=0.1 * level) for level in (1, 2)]
    assert [part.title for part in divide(runs)] == ["Level 1", "Level 2"]
    assert [len(part.groups) for part in divide(runs)] == [1, 1]


def test_numbers_are_ordered_as_numbers_where_a_run_has_none(study_of):
    runs = [study_of(1, learn__model__init_args__warm_up=size) for size in (10, 2)] + [study_of(1)]
    (axis,) = find_axes(runs)
    assert axis.values == ("\u2013", "2", "10")


def test_the_runs_of_a_group_stand_by_the_numbers_of_their_seeds(study_of):
    runs = [study_of(seed) for seed in (10, 2, 3, 1)]
    (group,) = group_runs(runs, [])
    assert [run.seed for run in group.runs] == ["1", "2", "3", "10"]
    (part,) = divide(runs)
    assert [run.seed for run in part.groups[0].runs] == ["1", "2", "3", "10"]


def test_the_main_scores_of_predictors_are_those_from_all_modalities(study_of):
    names = ("accuracy", "balanced_accuracy", "macro_f1", "average_precision")
    sources = ("image", "audio", ("image", "audio"))
    scores = [Score(f"prediction.{name}", 50.0, {"source": source, "target": "label"}) for source in sources for name in names]
    (part,) = divide([replace(study_of(1), scores=tuple(scores))])
    assert [dict(about)["source"] for _, about in part.main] == [("image", "audio")] * 4 + ["image"] * 4
