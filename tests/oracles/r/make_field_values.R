# Makes tests/oracles/r/field_values.json. Run from the repository root:
#
#   Rscript tests/oracles/r/make_field_values.R
#
# Every section is a list of cases {"name", "inputs", "outputs"}; a case that
# names no other inputs is of the data of its name, which stand once in
# "data". Inputs are short decimals, so a reader gets the very numbers R used.
# Outputs carry 15 significant digits.

suppressPackageStartupMessages({
  library(pROC)
  library(PRROC)
  library(hmeasure)
  library(prg)
  library(dcurves)
  library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20250607)

sections <- list()
add <- function(section, name, inputs, outputs) {
  case <- list(name = unbox(name), inputs = inputs, outputs = outputs)
  sections[[section]] <<- c(sections[[section]], list(case))
}

# ---- data ------------------------------------------------------------------

# n rows, n1 of them positive. Scores are probabilities of so many decimals,
# which sets how many are tied; `slope` and `shift` make them miscalibrated.
probabilities <- function(n, n1, apart, digits, slope = 1, shift = 0) {
  labels <- sample(rep(c(0, 1), c(n - n1, n1)))
  z <- rnorm(n) + labels * apart - apart / 2 + log(n1 / (n - n1))
  p <- round(plogis(slope * z + shift), digits)
  list(labels = labels, scores = pmin(pmax(p, 10^-digits), 1 - 10^-digits))
}

distinct <- function(...) {
  repeat {
    d <- probabilities(...)
    if (!anyDuplicated(d$scores)) return(d)
  }
}

sets <- list(
  balanced_60 = probabilities(60, 30, 1.5, 4),
  rare_200 = probabilities(200, 14, 1.8, 4),
  tied_120 = probabilities(120, 40, 1.2, 1),
  frequent_80 = probabilities(80, 64, 1.0, 3),
  weak_150 = probabilities(150, 75, 0.2, 2),
  overconfident_300 = probabilities(300, 90, 1.4, 4, slope = 2.5, shift = 0.7),
  timid_300 = probabilities(300, 120, 2.0, 4, slope = 0.4, shift = -0.5),
  rare_1500 = probabilities(1500, 60, 2.5, 4),
  strong_90 = probabilities(90, 45, 4.0, 4)
)

# ---- hmeasure --------------------------------------------------------------

# Its default severity ratio is pi1 / pi0: costs of Beta(2, 1 + pi0 / pi1). A
# ratio of 1 makes them Beta(2, 2). KS and the area under the hull come along.
for (name in names(sets)) {
  d <- sets[[name]]
  usual <- HMeasure(d$labels, d$scores)$metrics
  even <- HMeasure(d$labels, d$scores, severity.ratio = 1)$metrics
  add("hmeasure", name, list(data = unbox(name)), list(
    h = unbox(usual$H), h_symmetric = unbox(even$H),
    ks = unbox(usual$KS), auc = unbox(usual$AUC), auch = unbox(usual$AUCH)
  ))
}

# ---- pROC: rates at points of the curve ------------------------------------

# coords() at one specificity joins points by lines; the highest sensitivity
# with at most that many false positives is read off its table of all points.
rates <- c(0.01, 0.02, 0.05, 0.1, 0.25)
for (name in names(sets)) {
  d <- sets[[name]]
  curve <- roc(d$labels, d$scores, levels = c(0, 1), direction = "<", quiet = TRUE)
  points <- coords(curve, "all", ret = c("specificity", "sensitivity"), transpose = FALSE)
  at <- vapply(rates, function(f) {
    max(points$sensitivity[1 - points$specificity <= f + 1e-12])
  }, 0)
  best <- coords(curve, "best", best.method = "youden", ret = c("specificity", "sensitivity"),
                 transpose = FALSE)
  # Errors are equal where the curve crosses the falling diagonal.
  ends <- points[order(points$specificity, -points$sensitivity), ]
  equal <- approx(ends$specificity - ends$sensitivity, 1 - ends$specificity, 0, ties = "ordered")$y
  add("rates", name, list(data = unbox(name), max_fpr = rates), list(
    recall = at, equal_error_rate = unbox(equal),
    ks = unbox(max(best$specificity + best$sensitivity) - 1)
  ))
}

# ---- PRROC: average precision at a base rate -------------------------------

# Its areas are of curves with interpolated points, which is another number.
# The points at scores that are all different are shared, also with weights
# that make up another base rate.
base_rates <- c(0.5, 0.1, 0.01, 0.001)
curves <- list(
  distinct_60 = distinct(60, 30, 1.5, 6),
  distinct_200 = distinct(200, 14, 1.8, 6),
  distinct_90 = distinct(90, 45, 3.0, 6)
)
for (name in names(curves)) {
  d <- curves[[name]]
  n1 <- sum(d$labels)
  n0 <- sum(1 - d$labels)
  found <- vapply(base_rates, function(rate) {
    curve <- pr.curve(
      scores.class0 = d$scores, scores.class1 = d$scores,
      weights.class0 = d$labels * rate / n1 * 1000,
      weights.class1 = (1 - d$labels) * (1 - rate) / n0 * 1000, curve = TRUE
    )$curve
    points <- vapply(sort(d$scores, decreasing = TRUE), function(s) {
      own <- curve[curve[, 3] == s, , drop = FALSE]
      own[which.max(own[, 1]), 1:2]
    }, c(0, 0))
    sum(diff(c(0, points[1, ])) * points[2, ])
  }, 0)
  add("base_rates", name, list(data = unbox(name), base_rates = base_rates),
    list(average_precision = found))
}

# ---- prg: precision-recall gain --------------------------------------------

for (name in names(sets)) {
  d <- sets[[name]]
  curve <- create_prg_curve(d$labels, d$scores)
  add("gains", name, list(data = unbox(name)), list(auprg = unbox(calc_auprg(curve))))
}
cells <- list(c(3, 2, 1, 4), c(40, 10, 30, 920), c(5, 1, 5, 9), c(1, 9, 8, 2), c(7, 0, 0, 3))
for (x in cells) {
  add("gains_of_counts", paste(x, collapse = "-"),
    list(tp = unbox(x[1]), fn = unbox(x[2]), fp = unbox(x[3]), tn = unbox(x[4])),
    list(precision_gain = unbox(precision_gain(x[1], x[2], x[3], x[4])),
         recall_gain = unbox(recall_gain(x[1], x[2], x[3], x[4]))))
}

# ---- dcurves: net benefit ---------------------------------------------------

thresholds <- c(0.013, 0.055, 0.137, 0.255, 0.505, 0.755)
for (name in names(sets)) {
  d <- sets[[name]]
  rows <- data.frame(y = d$labels, p = d$scores)
  found <- suppressMessages(dca(y ~ p, rows, thresholds = thresholds))$dca
  own <- found[found$variable == "p", ]
  every <- found[found$variable == "all", ]
  add("net_benefit", name, list(data = unbox(name), thresholds = thresholds), list(
    net_benefit = own$net_benefit[order(own$threshold)],
    all = every$net_benefit[order(every$threshold)]
  ))
}

# ---- stats: a line through the log odds ------------------------------------

# Slope by glm(y ~ logit(p)); intercept with logit(p) as offset. The variances
# are sandwiches: they do not take the line for true.
sandwich <- function(fit) {
  x <- model.matrix(fit)
  scores <- x * (fit$y - fitted(fit))
  bread <- solve(crossprod(x * fitted(fit) * (1 - fitted(fit)), x))
  diag(bread %*% crossprod(scores) %*% bread)
}
tight <- glm.control(epsilon = 1e-15, maxit = 200)
for (name in names(sets)) {
  d <- sets[[name]]
  y <- d$labels
  odds <- qlogis(d$scores)
  line <- glm(y ~ odds, family = binomial, control = tight)
  large <- glm(y ~ 1 + offset(odds), family = binomial, control = tight)
  add("calibration", name, list(data = unbox(name)), list(
    slope = unbox(unname(coef(line)[2])), slope_variance = unbox(unname(sandwich(line)[2])),
    intercept = unbox(unname(coef(large)[1])),
    intercept_variance = unbox(unname(sandwich(large)[1])),
    brier = unbox(mean((d$scores - y)^2))
  ))
}

# ---- writing ----------------------------------------------------------------

packages <- c("pROC", "PRROC", "hmeasure", "prg", "dcurves", "jsonlite")
versions <- lapply(setNames(packages, packages), function(p) unbox(as.character(packageVersion(p))))
meta <- c(list(R = unbox(paste(R.version$major, R.version$minor, sep = "."))), versions)
parts <- vapply(names(sections), function(s) {
  cases <- vapply(sections[[s]], toJSON, "", digits = NA)
  paste0(toJSON(unbox(s)), ": [\n", paste(cases, collapse = ",\n"), "\n]")
}, "")
rows <- vapply(c(sets, curves), toJSON, "", digits = NA)
rows <- paste0("\"", names(rows), "\": ", rows, collapse = ",\n")
text <- paste0("{\n\"meta\": ", toJSON(meta), ",\n\"data\": {\n", rows, "\n},\n", paste(parts, collapse = ",\n"), "\n}\n")
cat(text, file = "tests/oracles/r/field_values.json")
