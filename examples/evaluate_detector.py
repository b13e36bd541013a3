"""Judge an intrusion detector from start to verdict.

Everything is made up here, from a fixed seed: 20,000 network flows of 240 hosts, five families of
attack, and the scores of two models. Run it with ``make demo``, or with Python alone.
"""

from __future__ import annotations

import textwrap

import numpy as np

import assay
from assay.v02.curves import recall_at
from assay.v02.learn.scenarios.flows import FAMILIES, HOSTS, PROTOCOLS, SEED, Flows, make_flows

FLOWS_A_DAY = 1_000_000
BASE_RATES = (0.01, 0.001, 0.0001)
TOLERATED_FAR = 0.05


def heading(text: str) -> None:
    print(f"\n\n{text}\n{'-' * len(text)}")


def say(text: str, start: str = "") -> None:
    print(textwrap.fill(text, 92, initial_indent=start, subsequent_indent=" " * len(start)))


def judged(flows: Flows, threshold: float = 0.5) -> assay.Evaluation:
    return assay.evaluate(
        flows.label,
        y_score=flows.new,
        positive="attack",
        threshold=threshold,
        slices={"family": flows.family, "protocol": flows.protocol},
        clusters=flows.host,
        base_rate=BASE_RATES,
    )


def show_clusters(flows: Flows, evaluation: assay.Evaluation) -> None:
    """What it would cost to take the flows of one host as independent."""
    alone = assay.evaluate(flows.label, y_score=flows.new, positive="attack")["recall"]
    together = evaluation["recall"]
    ratio = (together.high - together.low) / (alone.high - alone.low)
    print()
    say(
        f"Flows of one host resemble each other, and the intervals above allow for that. Taken as "
        f"independent rows, recall would read {alone}: an interval that is too narrow by a factor "
        f"of {ratio:.1f}."
    )


def show_families(evaluation: assay.Evaluation) -> list[tuple[str, assay.Estimate]]:
    """The detection rate of each family, worst first."""
    heading("Families, worst first")
    rates = [(name, evaluation.of_slice("family", name)["recall"]) for name in FAMILIES]
    rates.sort(key=lambda item: item[1])
    print(f"{'family':<14}{'flows':>6}{'missed':>8}   detection rate")
    for name, rate in rates:
        missed = round(rate.n * (1 - rate))
        print(f"{name:<14}{rate.n:>6}{missed:>8}   {rate}")
    if not rates[0][1].method.startswith("cluster"):
        print("(Here and for protocols, flows of one host are taken as independent.)")
    return rates


def show_protocols(evaluation: assay.Evaluation) -> list[tuple[str, assay.Estimate]]:
    """The false positive rate of each protocol, worst first."""
    heading("Protocols, most false positives first")
    rates = [
        (name, evaluation.of_slice("protocol", name)["false_positive_rate"]) for name in PROTOCOLS
    ]
    rates.sort(key=lambda item: -item[1])
    print(f"{'protocol':<14}{'harmless':>8}   false positive rate")
    for name, rate in rates:
        print(f"{name:<14}{rate.n:>8}   {rate.text(4)}")
    return rates


def show_base_rates(evaluation: assay.Evaluation) -> None:
    """What the same detector does where attacks are as rare as they are."""
    heading(f"In deployment, with {FLOWS_A_DAY:,} flows a day")
    print(f"{'attacks among flows':<21}{'alerts a day':>13}   {'precision':<24}false alarm rate")
    for rate in BASE_RATES:
        there = evaluation.at(rate)
        alerts = there["alert_rate"] * FLOWS_A_DAY
        print(
            f"1 in {round(1 / rate):<16,}{alerts:>13,.0f}   {there['precision']!s:<24}"
            f"{there['false_discovery_rate']}"
        )


def show_trade_off(evaluation: assay.Evaluation) -> None:
    """Points of the FAR-DR curve: what each tolerance buys."""
    heading("Detection rate for the false alarms that you tolerate (FAR-DR, in these flows)")
    scores = evaluation.tally.scores[0]
    print(f"{'FAR at most':<14}{'detection rate':>15}{'threshold':>12}{'alerts':>9}")
    for limit in (0.01, 0.02, 0.05, 0.10, 0.25, 0.50):
        rate, threshold = recall_at(scores, {"false_discovery_rate": limit})
        alerts = sum(scores.at_least(threshold))
        print(f"{limit:<14.0%}{rate:>15.3f}{threshold:>12.4f}{alerts:>9,}")


def show_threshold(flows: Flows) -> tuple[float, assay.Evaluation]:
    """Choose a threshold on half of the hosts, and judge it on the other half."""
    heading(f"A threshold for a false alarm rate of {TOLERATED_FAR:.0%}")
    hosts = np.unique(flows.host)
    drawn = np.random.default_rng(SEED).permutation(hosts)[: HOSTS // 2]
    tuning = np.isin(flows.host, drawn)
    chosen_on, held_out = flows.where(tuning), flows.where(~tuning)
    tally = assay.count(chosen_on.label, y_score=chosen_on.new, positive="attack")
    rate, threshold = recall_at(tally.scores[0], {"false_discovery_rate": TOLERATED_FAR})
    evaluation = judged(held_out, threshold)
    print(
        f"Chosen on {HOSTS // 2} hosts: {threshold:.4f}, which finds {rate:.3f} of their attacks.\n"
        f"On the other {HOSTS // 2}, which it has not seen:"
    )
    for name, measure, digits in (
        ("detection rate", "recall", 3),
        ("false alarm rate", "false_discovery_rate", 3),
        ("false positive rate", "false_positive_rate", 4),
    ):
        print(f"  {name:<20} {evaluation[measure].text(digits)}")
    return threshold, evaluation


def show_comparison(flows: Flows) -> int:
    """The new model against the one that runs now; how many attacks only the latter finds."""
    heading("Against the model that runs now")
    comparison = assay.compare(
        flows.label,
        scores={"old": flows.old, "new": flows.new},
        positive="attack",
        clusters=flows.host,
    )
    print(f"{'measure':<20}{'old':>7}{'new':>7}   new less old")
    for measure in ("roc_auc", "partial_auc", "average_precision", "log_loss"):
        gap = comparison.difference(measure)
        print(f"{measure:<20}{gap.value_a:>7.3f}{gap.value_b:>7.3f}   {gap.difference}")
    attacks = flows.where(flows.label == "attack")
    old, new = attacks.old >= 0.5, attacks.new >= 0.5
    only_old = int(np.sum(old & ~new))
    print(
        f"\nAt 0.5 only the new model finds {np.sum(new & ~old)} attacks, only the old one "
        f"{only_old}; both miss {np.sum(~old & ~new)}."
    )
    print(comparison.verdicts[0][2])
    return only_old


def show_next_steps(
    evaluation: assay.Evaluation,
    families: list[tuple[str, assay.Estimate]],
    protocols: list[tuple[str, assay.Estimate]],
    threshold: float,
    held_out: assay.Evaluation,
    only_old: int,
) -> None:
    """What these numbers ask for, most urgent first."""
    heading("What to do next")
    steps = []
    for name, rate in families:
        if rate.high - rate.low > 0.25:
            more = rate * (1 - rate) * (1.96 / 0.05) ** 2 - rate.n
            steps.append(
                f"Label about {round(more, -1):.0f} more flows of {name}: {rate.n} can't tell a "
                f"detection rate of {rate.low:.2f} from one of {rate.high:.2f}."
            )
        elif rate.high < 0.9:
            steps.append(
                f"Look at the missed {name} flows: at best {rate.high:.0%} of the family are "
                f"found. A rule of its own may be cheaper than a better model."
            )
    rarest = BASE_RATES[-1]
    steps.append(
        f"Do not send alerts to people one by one where 1 flow in {1 / rarest:,.0f} is an attack: "
        f"{evaluation.at(rarest)['false_discovery_rate']:.0%} of them are false. Group them by "
        f"host, or let a second stage look first."
    )
    harmless = evaluation.confusion.rows[0]
    unseen = float(assay.ClopperPearson()(0, harmless)[1])
    steps.append(
        f"Take more harmless flows before asking for fewer alerts: even if none of these "
        f"{harmless:,} were flagged, there could still be {unseen * FLOWS_A_DAY:.0f} false alarms "
        f"a day."
    )
    (worst, most), (_, least) = protocols[0], protocols[-1]
    if most.low > least.high:
        steps.append(
            f"Give {worst} a threshold of its own: harmless {worst} flows are flagged "
            f"{most / least:.0f} times as often as those of {protocols[-1][0]}."
        )
    calibration = evaluation["expected_calibration_error"]
    if calibration > 3 * calibration.parts["if_calibrated"]:
        steps.append(
            f"Do not read scores as chances: they are off by {calibration:.3f} on average, where a "
            f"calibrated model would show {calibration.parts['if_calibrated']:.3f}. Recalibrate, "
            f"or use them as ranks only."
        )
    if only_old:
        steps.append(
            f"Look at the {only_old} attacks that only the old model finds before switching it off."
        )
    steps.append(
        f"Deploy at {threshold:.4f} if a false alarm rate between "
        f"{held_out['false_discovery_rate'].low:.0%} and "
        f"{held_out['false_discovery_rate'].high:.0%} (where attacks are as frequent as here) is "
        f"bearable, and evaluate again on flows that are labelled after that."
    )
    for number, step in enumerate(steps, 1):
        say(step, f"{number}. ")


def main() -> None:
    flows = make_flows()
    evaluation = judged(flows)
    print(evaluation)
    show_clusters(flows, evaluation)
    families = show_families(evaluation)
    protocols = show_protocols(evaluation)
    show_base_rates(evaluation)
    show_trade_off(evaluation)
    threshold, held_out = show_threshold(flows)
    only_old = show_comparison(flows)
    show_next_steps(evaluation, families, protocols, threshold, held_out, only_old)


if __name__ == "__main__":
    main()
