"""The names that users may rely on. A change here is a change of the public interface."""

import importlib

import pytest

import rocourse

PUBLIC = {
    "rocourse": {
        "Categorical",
        "Continuous",
        "CFModel",
        "CounterNet",
        "RBR",
        "ROAR",
        "Recourse",
        "RoCourseNet",
        "RoCourseNetRandom",
        "RoCoursePanel",
        "RobustCFModel",
        "RobustVAECF",
        "Schema",
        "Target",
        "VAECF",
        "VanillaCF",
        "VanillaCFRandom",
        "__version__",
        "adapt",
        "datasets",
        "evaluation",
        "load",
        "save",
    },
    "rocourse.artifacts": {
        "check_file_path",
        "check_model_path",
        "check_parents",
        "load",
        "model_digest",
        "new_file",
        "save",
        "write_file",
    },
    "rocourse.attack": {
        "ATTACKERS",
        "INNER_OPTIMIZERS",
        "NORMS",
        "Attacker",
        "InnerOptimizer",
        "Norm",
        "Shift",
        "inner_optimizer",
        "look_ahead",
        "virtual_data_shift",
    },
    "rocourse.datasets": {
        "Dataset",
        "DatasetInfo",
        "data_path",
        "fetch",
        "list_datasets",
        "load",
        "simulate_covariate_shift",
        "simulate_label_shift",
    },
    "rocourse.errors": {
        "ArtifactError",
        "ConfigError",
        "DataError",
        "DependencyError",
        "FetchError",
        "LedgerError",
        "OutputError",
        "RocourseError",
        "SchemaError",
        "SettledPromise",
        "TrainingError",
        "UnknownPromise",
    },
    "rocourse.evaluation": {
        "MODEL_METRICS",
        "PROTOCOLS",
        "RECOURSE_METRICS",
        "Aggregate",
        "AuditReport",
        "Auditor",
        "BrokenPromise",
        "Model",
        "ModelScores",
        "Plausibility",
        "RecourseScores",
        "SeedsResult",
        "SubsetResult",
        "SubsetsResult",
        "Summary",
        "Tally",
        "accuracy",
        "auc",
        "audit",
        "constant_class",
        "evaluate_model",
        "fit_seed",
        "judge_subset",
        "proximity",
        "robust_validity",
        "run_subsets",
        "select_rows",
        "sparsity",
        "split",
        "validity",
    },
    "rocourse.service": {
        "LOOPBACK",
        "Caller",
        "KeyRing",
        "Role",
        "Settings",
        "add_key",
        "create_app",
        "list_keys",
        "log_to_stderr",
        "remove_key",
        "serve",
    },
    "rocourse.ledger": {
        "JSON",
        "Conflict",
        "Event",
        "Issue",
        "Ledger",
        "NewPromise",
        "Promise",
        "Status",
        "new_id",
    },
    "rocourse.experiments": {
        "DEMO",
        "PAPER",
        "SPACES",
        "Choices",
        "Span",
        "TuningResult",
        "TuningTrial",
        "check_result_folder",
        "find_space",
        "options_for",
        "read_tuning",
        "render_demo",
        "run_demo",
        "tune",
        "write_tuning",
    },
    "rocourse.experiments.reproduction": {
        "ALL",
        "REGISTRY",
        "SCALES",
        "Advance",
        "Cell",
        "Entry",
        "Job",
        "Outcome",
        "Results",
        "Scale",
        "Search",
        "Setting",
        "Source",
        "Store",
        "collect",
        "find_entries",
        "find_scale",
        "reproduce",
        "run_jobs",
        "seed_by_seed",
        "write_report",
    },
    "rocourse.reports": {
        "ATTACK_MEASURES",
        "BASE",
        "EXTENSION",
        "METHOD_TITLES",
        "PAPER_RESULTS",
        "SAMPLES",
        "Advice",
        "Attacked",
        "Frontier",
        "Measured",
        "Part",
        "Picture",
        "Search",
        "Section",
        "Series",
        "Sweep",
        "Table",
        "as_markdown",
        "attack_parts",
        "choice_tables",
        "comparison_table",
        "curve_parts",
        "draw_audits",
        "draw_report",
        "matrix_parts",
        "oracle_tables",
        "pareto_parts",
        "plausible_tables",
        "predictive_tables",
        "protocol_tables",
        "recourse_tables",
        "render_audit",
        "search_table",
        "series_parts",
        "size_parts",
        "time_tables",
    },
    "rocourse.reports.demo": {
        "CORRECTED",
        "DEMO_PROTOCOLS",
        "FORMAT",
        "ORIGINAL",
        "RESULT_FILE",
        "Change",
        "DemoResult",
        "MethodRun",
        "SampleRecourse",
        "draw_demo",
        "load_demo",
        "render_report",
    },
    "rocourse.methods": {
        "METHODS",
        "RBR",
        "ROAR",
        "VAECF",
        "CFModel",
        "CounterNet",
        "RecourseClassifier",
        "RoCourseNet",
        "RoCourseNetRandom",
        "RoCoursePanel",
        "RobustCFModel",
        "RobustVAECF",
        "VanillaCF",
        "VanillaCFRandom",
        "adapt",
        "parameter_docs",
    },
    "rocourse.methods.adapters": {
        "INPUTS",
        "OUTPUTS",
        "AdaptedModel",
        "Inputs",
        "Outputs",
        "adapt",
    },
    "rocourse.networks": {
        "GENERATORS",
        "LEAK",
        "Generator",
        "GeneratorBuilder",
        "GeneratorInput",
        "GeneratorKind",
        "GeneratorShape",
        "HiddenStack",
        "Predictor",
        "Proposal",
        "RecourseGenerator",
        "Request",
        "VAEGenerator",
        "draw_dropout_factors",
        "dropout_factors",
        "join",
        "normal_divergence",
        "output_layer",
        "probabilities",
        "propose",
        "random_count",
        "takes_columns",
    },
    "rocourse.schema": {
        "NEGLIGIBLE_CHANGE",
        "Categorical",
        "ClippedWarning",
        "Continuous",
        "Feature",
        "Layout",
        "Recourse",
        "RowCodes",
        "Rows",
        "Schema",
        "Target",
        "features_changed",
        "one_hot",
        "proximity",
        "EncodedRow",
        "RowCodec",
        "describe_change",
    },
}


@pytest.mark.parametrize("name", PUBLIC)
def test_exported_names_are_the_agreed_ones(name):
    module = importlib.import_module(name)
    assert set(module.__all__) == PUBLIC[name]
    assert len(module.__all__) == len(set(module.__all__))


@pytest.mark.parametrize("name", PUBLIC)
def test_exported_names_exist(name):
    module = importlib.import_module(name)
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_exported_classes_and_functions_are_documented(name):
    module = importlib.import_module(name)
    exported = {public: getattr(module, public) for public in module.__all__}
    # Aliases and constants borrow the docstring of their type; only what we define must have one.
    ours = {
        public: value
        for public, value in exported.items()
        if getattr(value, "__module__", "").startswith("rocourse")
    }
    assert [public for public, value in ours.items() if not value.__doc__] == []


def test_lazy_names_are_the_objects_of_their_homes():
    for public, home in rocourse._HOMES.items():
        assert getattr(rocourse, public) is getattr(importlib.import_module(home), public)


def test_every_lazy_name_is_public_and_every_public_name_is_listed():
    assert set(rocourse._HOMES) | rocourse._SUBMODULES | {"__version__"} == set(rocourse.__all__)
    assert set(rocourse.__all__) <= set(dir(rocourse))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'rocourse' has no attribute 'RobustNet'"):
        rocourse.RobustNet  # noqa: B018
