"""Well-known names of columns: labels, scores, decisions, times, and probabilities of classes."""

from __future__ import annotations

import re

LABEL, SCORE, DECISION, TIME = "label", "score", "decision", "time"
PROBABILITY = "probability:"


def _names(*tiers: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(tier.split()) for tier in tiers)


# Case and all signs aside, the surest names first. The last names of labels and decisions count
# only where the values are known words too.
WELL_KNOWN = {
    LABEL: _names(
        "gt groundtruth gold expected expectedlabel reference observed obs ytest",
        "label labels target targets class klass klasse disposition verdict analystverdict "
        "isattack isfraud ismalicious ismalware isspam isphishing isanomaly isintrusion isthreat "
        "isbot isunsafe isharmful istoxic isinjection isjailbreak angriff etikett etiqueta clase",
        "attack fraud malicious malware anomaly intrusion threat phishing spam unsafe toxic y "
        "classification status determination outcome result resolution feedback userfeedback "
        "category type tag",
    ),
    SCORE: _names(
        "score yscore yproba yprob proba prob probability probabilities riskscore anomalyscore "
        "attackscore maliciousscore fraudscore threatscore outlierscore scoredprobabilities "
        "predproba predprob ypredproba predictedprobability predictionprobability modelscore "
        "predictedscore predictionscore wahrscheinlichkeit probabilidad decisionfunction",
        "p risk logit likelihood anomaly outlierness reconstructionerror "
        "confidence confidencescore",
        "severity severityname maxseverity maxseveritydisplayname",
        "urgency priority level",
    ),
    DECISION: _names(
        "decision predict vorhersage entscheidung prediccion scoredlabels predictions",
        "action alert alarm alerted flagged isalert isflagged blocked detected response output "
        "outputs modeloutput answer filteredresps label",
    ),
    TIME: _names(
        "timestamp time datetime ts eventtime timegenerated zeit zeitpunkt zeitstempel",
        "date datum when created createdat createdtime createdtimestamp creationtime "
        "detectiontime detectedat firstactivity starttime flowstart timestamputc logtime fecha",
    ),
}
_OF = r"(?:y|labels?|class|target|values?|outcome|model)?"
# As sure as the first names.
PATTERNS = {
    LABEL: re.compile(rf"{_OF}(?:true|truth|actual|real|gold){_OF}"),
    DECISION: re.compile(rf"{_OF}(?:pred|predicted|prediction|hat){_OF}"),
}
CLASSES = tuple(
    map(
        re.compile,
        (
            # predict_proba_attack
            r"(?i)^(?:\w+_)?(?:p|proba?|probability|pred|score|confidence)[_ .:-]+(.+)$",
            r"^P ?\((?:.+=)?(.+)\)$",  # KNIME
            r"^confidence\((.+)\)$",  # RapidMiner
            r'^Scored Probabilities for Class "(.+)"$',  # Azure Machine Learning
            r"(?i)^(?:p|prob|proba)(\d+)$",  # H2O
            r"(?i)^(.+)[_ .](?:p|prob|proba|probability|score)$",
            r"^(.+)$",  # caret of R
        ),
    )
)


def bare_name(name: str) -> str:
    """A name without case and signs.

    >>> bare_name("Predicted_Label")
    'predictedlabel'
    """
    return re.sub(r"[\W_]+", "", name.casefold())
