# Makes tests/oracles/r/curves.json. Run from the repository root:
#
#   Rscript tests/oracles/r/make_curves.R
#
# ROCR's convex hull, cost curve, gain and lift of small tables with ties. Inputs are short
# decimals, so a reader gets the very numbers R used; outputs carry 15 significant digits.

suppressPackageStartupMessages({
  library(ROCR)
  library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20240301)

case <- function(size, share, apart, steps) {
  truth <- as.integer(runif(size) < share)
  truth[1:2] <- c(0L, 1L)
  score <- round(pmin(pmax(plogis(rnorm(size, (truth - 0.5) * apart)), 0), 1) * steps) / steps
  pred <- prediction(score, truth)
  hull <- performance(pred, "rch")
  cost <- performance(pred, "ecost")
  gain <- performance(pred, "tpr", "rpp")
  lift <- performance(pred, "lift", "rpp")
  list(
    truth = truth, score = score,
    hull = list(x = hull@x.values[[1]], y = hull@y.values[[1]]),
    cost = list(x = cost@x.values[[1]], y = cost@y.values[[1]]),
    gain = list(x = gain@x.values[[1]], y = gain@y.values[[1]],
                cutoff = gain@alpha.values[[1]]),
    lift = list(x = lift@x.values[[1]], y = lift@y.values[[1]],
                cutoff = lift@alpha.values[[1]])
  )
}

cases <- list(
  case(24, 0.5, 1.0, 8),
  case(60, 0.3, 2.0, 16),
  case(150, 0.1, 2.5, 50),
  case(40, 0.5, 0.0, 10)
)
made <- list(
  made_by = list(R = as.character(getRversion()), ROCR = as.character(packageVersion("ROCR"))),
  cases = cases
)
cat(toJSON(made, digits = NA, auto_unbox = TRUE, na = "null"), "\n", sep = "",
    file = "tests/oracles/r/curves.json")
