# Makes tests/oracles/r/strata_values.json. Run from the repository root:
#
#   Rscript tests/oracles/r/make_strata_values.R
#
# "sums": directly standardised rates with the gamma interval of Fay and Feuer, by epitools, from
# counts of events, rows drawn and rows of each stratum.
# "ratios": a ratio of two totals of a stratified sample with its standard error, by survey.

suppressPackageStartupMessages({
  library(epitools)
  library(survey)
  library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261116)

sums <- lapply(1:12, function(i) {
  strata <- sample(1:7, 1)
  drawn <- sample(20:2000, strata)
  rows <- drawn * sample(1:300, strata)
  events <- rbinom(strata, drawn, runif(strata, 0, 0.02))
  if (i == 1) events[] <- 0
  events[strata] <- events[strata] + (i > 1)
  found <- ageadjust.direct(events, drawn, stdpop = rows)
  list(events = events, drawn = drawn, rows = rows, rate = found[["adj.rate"]],
       low = found[["lci"]], high = found[["uci"]])
})

ratios <- lapply(1:6, function(i) {
  strata <- sample(2:5, 1)
  drawn <- sample(50:200, 1)            # of each stratum, so that one factor tells n from n - 1
  weight <- sample(1:40, strata)
  cells <- t(sapply(1:strata, function(h) rmultinom(1, drawn, runif(4, 0.05, 1))))
  kinds <- do.call(rbind, lapply(1:strata, function(h) data.frame(
    stratum = h, weight = weight[h], kind = rep(1:4, cells[h, ]))))
  kinds$tp <- as.numeric(kinds$kind == 4)
  kinds$positive <- as.numeric(kinds$kind >= 3)
  design <- svydesign(ids = ~1, strata = ~stratum, weights = ~weight, data = kinds)
  found <- svyratio(~tp, ~positive, design)
  list(cells = cells, weight = weight, drawn = drawn, ratio = coef(found)[[1]],
       se = SE(found)[[1]])
})

write_json(list(made_by = list(R = R.version.string, epitools = as.character(packageVersion("epitools")),
                               survey = as.character(packageVersion("survey"))),
                sums = sums, ratios = ratios),
           "tests/oracles/r/strata_values.json", digits = I(17), auto_unbox = TRUE, pretty = TRUE)
