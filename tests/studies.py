"""People who answer, for tests of studies."""

import numpy as np

import gameproof as gp

POWER = 0.1


def problem(n=60, d=3, **options):
    X, y = gp.synthetic_people(n=n, d=d, seed=0)
    return gp.StrategicProblem(gp.Population(X, y), radius=0.05, label_cost=0.5, **options)


def answer(study, question):
    """A best response with a quadratic cost."""
    return study.problem.population.X[question.agent] + POWER * question.theta


def complete(study, order=lambda questions: questions):
    """Answers every question until the study is finished."""
    while questions := study.ask(limit=1000, holder="tester"):
        for question in order(questions):
            study.tell(question.id, answer(study, question))


def shuffled(seed):
    rng = np.random.default_rng(seed)
    return lambda questions: [questions[k] for k in rng.permutation(len(questions))]
