"""What tables and figures call methods and data sets."""

METHOD_TITLES = {
    "vanillacf": "VanillaCF",
    "vanillacf-random": "VanillaCF-Random",
    "counternet": "CounterNet",
    "roar": "ROAR-LIME",
    "rbr": "RBR",
    "rocoursenet": "RoCourseNet",
    "rocoursenet-random": "RoCourseNet-Random",
    "cf-model": "CF Model",
    "robust-cf-model": "Robust CF Model",
    "vae-cf": "VAE-CF",
    "robust-vae-cf": "Robust VAE-CF",
    "rocourse-panel": "RoCoursePanel (ours)",
    "rocourse": "RoCourse (ours)",
}

DATA_TITLES = {
    "loan": "Loan",
    "german_credit": "German Credit",
    "student": "Student",
    "simulated_covariate": "Covariate shift",
    "simulated_label": "Label shift",
    "acs": "ACS income",
    "heart": "Heart disease",
}


def data_title(dataset: str) -> str:
    """What a data set is called."""
    return DATA_TITLES.get(dataset, dataset)
