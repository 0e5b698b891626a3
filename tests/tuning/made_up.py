"""Runs that are made up: what is measured with them is the tuner, not the engine."""

import zlib

import numpy as np

from lns.tuning import validate
from lns.tuning.objective import Trace
from lns.tuning.session import Worker, search_task
from lns.tuning.study import StudyRequest, open_study

REQUEST = StudyRequest(
    family="like-e2:6x6", nodes=4000, pairs=6, held_out=20, seed=3, command="lns tune --family like-e2:6x6"
)


class MadeUp:
    """A run whose score is best at tail 12 and the shortest suffix, with noise that belongs to pair and parameters."""

    def __init__(self, engine, params, pair, shortest):
        merit = params.construct.tail - 3 * (params.neighbourhoods.last - 20)
        self._draw(params, pair, 40 + merit)

    def _draw(self, params, pair, mean):
        chance = np.random.default_rng([pair.seed, zlib.crc32(repr(params).encode())])
        score = round(mean + chance.normal())
        self.best_scores = ((score - 2, int(chance.integers(500))), (score, int(chance.integers(500, 1000))))

    def advance(self, budget, stop):
        return Trace(self.best_scores, budget, False, 0.001)


class Flat(MadeUp):
    """Parameters do not matter."""

    def __init__(self, engine, params, pair, shortest):
        self._draw(params, pair, 40)


def add_default_runs(study, pair, trace):
    """Store the short run of the defaults that sets the floor of a training pair, and the long one."""
    study.runs.add(study.key(study.base, pair), trace)
    study.runs.add(study.key(study.base, study.training[-1]), trace)


def searched(path, trials, request=REQUEST):
    open_study(path, request)
    search_task(path, 0, trials)
    return open_study(path, StudyRequest())


def validated(study):
    worker = Worker(study)
    for params, index in validate.missing_runs(study, validate.choose_candidates(study)):
        worker.trace(params, study.held_out[index], study.plan.nodes, shared=True)
    found = validate.conclude(study)
    validate.write_best(study, found)
    return found
