"""The papers' experiments: which there are, what they are made of, how they are run, summed up and drawn."""

from tailproof.verification.experiments.catalogue import EXPERIMENTS, Experiment
from tailproof.verification.experiments.command import experiment

__all__ = ["EXPERIMENTS", "Experiment", "experiment"]
