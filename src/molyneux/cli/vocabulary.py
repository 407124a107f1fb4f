"""Words of the command line: the kinds of things that are listed, and names that commands have elsewhere."""

KINDS = {
    "auxiliary-objectives": "what a fusion predictor learns beside its targets",
    "benchmarks": "published data sets, read from their files",
    "configs": "experiment and study files below the folder configs",
    "corruptions": "damage to pictures, texts, sounds and other data",
    "datasets": "your own data: arrays, tables, folders of images",
    "encoders": "networks from one modality to features",
    "fusions": "ways to join the features of several modalities",
    "imputations": "what stands in for a missing modality",
    "judges": "trained readers of generated views",
    "measures": "what is measured of a model",
    "metrics": "metrics of disentanglement",
    "models": "models to train",
    "nets": "encoders and decoders of VAEs",
    "objectives": "losses of VAEs",
    "pretrained": "trained models that come with the package",
    "worlds": "generators of samples whose factors are known",
}
"""What `molyneux list` lists, and what each is."""

MEANT = {
    "download": "data",
    "draw": "generate",
    "eval": "measure",
    "evaluate": "measure",
    "experiment": "run",
    "fit": "learn",
    "info": "doctor",
    "ls": "list",
    "plot": "report",
    "sample": "generate",
    "show": "report",
    "study": "sweep",
    "train": "run",
    "upload": "push",
}
"""What commands of other programs are called here."""
