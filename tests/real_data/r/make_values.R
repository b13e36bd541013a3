# Makes tests/real_data/r/values.json. Run from the repository root:
#
#   python -m tests.real_data.rows_for_r FOLDER
#   Rscript tests/real_data/r/make_values.R FOLDER
#
# Values carry 15 significant digits. null means that R gave NA.

Sys.setenv(TZ = "UTC")
suppressPackageStartupMessages({
  library(pROC)
  library(caret)
  library(epiR)
  library(jsonlite)
})
folder <- commandArgs(trailingOnly = TRUE)[1]
level <- 0.95
base_rates <- c(0.1, 0.01, 0.001, 0.0001)

# ---- rows ------------------------------------------------------------------

forest <- read.csv(file.path(folder, "forest.csv"))
forest$truth <- forest$label != "normal"
forest$score <- forest$score / 10000
network <- read.csv(file.path(folder, "network.csv"))
network$truth <- network$y_true == 1
network$score <- network$prob

sets <- list(
  forest = forest,
  network = network,
  network_test = network[network$split == "test", ],
  network_deploy = network[network$split == "deploy", ],
  network_600 = head(network, 600)
)

# ---- ranking ---------------------------------------------------------------
# A higher score means more positive (direction "<"). DeLong's variance divides
# by (m - 1) and (n - 1); the interval is normal on the plain scale. The partial
# area is that of specificity from 1 to 0.9, raw and by McClish's correction.

ranking <- function(d) {
  r <- roc(response = d$truth, predictor = d$score, levels = c(FALSE, TRUE),
           direction = "<", quiet = TRUE)
  ci <- ci.auc(r, method = "delong", conf.level = level)
  part <- function(correct) {
    as.numeric(auc(r, partial.auc = c(1, 0.9), partial.auc.focus = "specificity",
                   partial.auc.correct = correct))
  }
  list(auc = as.numeric(auc(r)), variance = pROC::var(r, method = "delong"),
       lower = ci[1], upper = ci[3], partial = part(FALSE), partial_corrected = part(TRUE))
}

# ---- probabilities ---------------------------------------------------------
# The definitions themselves; log loss is clipped at 2^-52.

losses <- function(d) {
  p <- pmin(pmax(d$score, 2^-52), 1 - 2^-52)
  list(brier = mean((d$score - d$truth)^2),
       log_loss = -mean(ifelse(d$truth, log(p), log1p(-p))))
}

# ---- decisions -------------------------------------------------------------
# Flagged from 0.5 on. caret wants predictions in rows.

table_of <- function(d) {
  both <- c("no", "yes")
  flag <- function(x) factor(ifelse(x, "yes", "no"), levels = both)
  table(Prediction = flag(d$score >= 0.5), Reference = flag(d$truth))
}

cells_of <- function(t) {
  list(tn = t["no", "no"], fp = t["yes", "no"], fn = t["no", "yes"], tp = t["yes", "yes"])
}

caret_values <- function(t) {
  yes <- confusionMatrix(t, positive = "yes")
  no <- confusionMatrix(t, positive = "no")
  list(overall = as.list(yes$overall), positive = as.list(yes$byClass),
       negative = as.list(no$byClass))
}

# What caret makes of another share of positives.
at_base_rates <- function(t) {
  lapply(base_rates, function(p) {
    by_class <- confusionMatrix(t, positive = "yes", prevalence = p)$byClass
    list(base_rate = p, precision = by_class[["Pos Pred Value"]],
         negative_predictive_value = by_class[["Neg Pred Value"]])
  })
}

share <- function(k, n) {
  by_epi <- function(method) {
    found <- epi.conf(cbind(k, n), ctype = "prevalence", method = method, N = 1e9, design = 1,
                      conf.level = level)
    c(found$lower, found$upper)
  }
  exact <- binom.test(k, n, conf.level = level)
  list(k = k, n = n, "clopper-pearson" = exact$conf.int[1:2],
       wilson = suppressWarnings(prop.test(k, n, conf.level = level, correct = FALSE))$conf.int[1:2],
       "agresti-coull" = by_epi("agresti"), jeffreys = by_epi("jeffreys"))
}

shares <- function(cells) {
  with(cells, list(recall = share(tp, tp + fn), specificity = share(tn, tn + fp),
                   precision = share(tp, tp + fp), negative_predictive_value = share(tn, tn + fn),
                   accuracy = share(tp + tn, tp + tn + fp + fn)))
}

# Limits on the log scale.
ratios <- function(cells) {
  d <- epi.tests(with(cells, c(tp, fp, fn, tn)), method = "exact", conf.level = level)$detail
  names <- c(positive_likelihood_ratio = "lr.pos", negative_likelihood_ratio = "lr.neg",
             diagnostic_odds_ratio = "diag.or", informedness = "youden")
  lapply(names, function(s) unlist(d[d$statistic == s, c("est", "lower", "upper")], use.names = FALSE))
}

judged <- function(d) {
  t <- table_of(d)
  cells <- cells_of(t)
  list(rows = nrow(d), cells = cells, caret = caret_values(t), at_base_rates = at_base_rates(t),
       shares = shares(cells), ratios = ratios(cells))
}

whole <- lapply(sets, function(d) c(judged(d), list(ranking = ranking(d), losses = losses(d))))

# ---- parts of the forest's rows --------------------------------------------

flagged <- forest$score >= 0.5
families <- lapply(split(flagged[forest$truth], forest$label[forest$truth]), function(f) {
  exact <- binom.test(sum(f), length(f), conf.level = level)
  list(k = sum(f), n = length(f), "clopper-pearson" = exact$conf.int[1:2])
})
protocols <- lapply(split(forest, forest$protocol_type), judged)

# ---- write -----------------------------------------------------------------

used <- c("pROC", "caret", "epiR", "jsonlite")
meta <- list(r = paste(R.version$major, R.version$minor, sep = "."),
             packages = lapply(setNames(used, used), function(p) as.character(packageVersion(p))),
             level = level)
values <- list(meta = meta, sets = whole, families = families, protocols = protocols)
write_json(values, "tests/real_data/r/values.json", digits = NA, auto_unbox = TRUE, na = "null",
           pretty = 1)
