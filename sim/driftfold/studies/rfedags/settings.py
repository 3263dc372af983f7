"""Settings that many arms share, in the papers' words."""

FIVE = (1, 2, 3, 4, 5)
"""Seeds of experiments that the paper ran five times."""


def by(
    kind: str,
    *,
    steps: int,
    batch: float | str,
    step: str,
    weights: str | None = "none",
    more: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return the settings of another algorithm with K, B and alpha.

    Parameters
    ----------
    kind
        The algorithm.
    steps, batch, step
        K, B, and alpha as a TOML value.
    weights
        The estimator; the baselines know none. None keeps the preset's.
    more
        Further fields of the algorithm.

    Examples
    --------
    >>> by("rfedavg", steps=5, batch=50, step="6e-3")[-1]
    'estimator=none'
    """
    size = f'"{batch}"' if isinstance(batch, str) else batch
    return (
        f"algorithm.kind={kind}",
        f"algorithm.steps={steps}",
        f"algorithm.batch={size}",
        f"algorithm.step_size={step}",
        *(f"algorithm.{setting}" for setting in more),
        *(() if weights is None else (f"estimator={weights}",)),
    )


def decay(alpha: float, period: int = 20) -> str:
    """Return the rule alpha / (1 + floor(t / period)) as a TOML value.

    >>> decay(3.5e-4)
    '{kind="piecewise", alpha=0.00035, period=20}'
    """
    return f'{{kind="piecewise", alpha={alpha}, period={period}}}'
