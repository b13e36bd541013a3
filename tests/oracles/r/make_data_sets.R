# Six data sets, five models, ten folds: mean ranks and tests over data sets, by base R alone.
# Friedman's test is stats::friedman.test; Nemenyi's p is ptukey's upper tail of the gap of two mean
# ranks, as PMCMRplus::frdAllPairsNemenyiTest and scmamp::nemenyiTest compute it; Holm's is
# stats::p.adjust of normal p-values, as scmamp::friedmanPost and adjustHolm give them; Iman and
# Davenport's F is scmamp::imanDavenportTest's; Wilcoxon's is stats::wilcox.test.
# Make it again from the repository root: Rscript tests/oracles/r/make_data_sets.R
library(jsonlite)
set.seed(16)
models <- c("forest", "boost", "svm", "tree", "bayes")
sets <- paste0("set", 1:6)
shift <- c(0.030, 0.026, 0.012, 0.000, -0.030)
folds <- expand.grid(fold = 1:10, model = models, dataset = sets, stringsAsFactors = FALSE)
level <- rnorm(6, 0.82, 0.04)
own <- matrix(rnorm(30, 0, 0.012), 6, 5)
d <- match(folds$dataset, sets)
m <- match(folds$model, models)
folds$accuracy <- round(level[d] + shift[m] + own[cbind(d, m)] + rnorm(nrow(folds), 0, 0.01), 3)
table <- tapply(folds$accuracy, list(folds$dataset, folds$model), mean)[sets, models]
table <- round(table, 12)

over <- function(table) {
  n <- nrow(table)
  k <- ncol(table)
  ranks <- t(apply(-table, 1, rank))
  means <- colMeans(ranks)
  test <- friedman.test(table)
  q <- unname(test$statistic)
  f <- (n - 1) * q / (n * (k - 1) - q)
  error <- sqrt(k * (k + 1) / (6 * n))
  pairs <- t(combn(k, 2))
  gap <- means[pairs[, 2]] - means[pairs[, 1]]
  raw <- 2 * pnorm(-abs(gap) / error)
  list(
    mean_ranks = unname(means),
    friedman = list(statistic = q, p = unname(test$p.value)),
    iman_davenport = list(statistic = f, p = pf(f, k - 1, (k - 1) * (n - 1), lower.tail = FALSE)),
    critical_difference = qtukey(0.95, k, Inf) / sqrt(2) * error,
    nemenyi = unname(ptukey(abs(gap) / error * sqrt(2), k, Inf, lower.tail = FALSE)),
    raw = unname(raw),
    holm = unname(p.adjust(raw, "holm")),
    wilcoxon = apply(pairs, 1, function(at) {
      suppressWarnings(wilcox.test(table[, at[2]], table[, at[1]], paired = TRUE, exact = TRUE)$p.value)
    })
  )
}

tied <- round(table, 2)
values <- list(
  made_with = paste("R", getRversion()),
  models = models,
  data_sets = sets,
  folds = folds[c("dataset", "model", "fold", "accuracy")],
  means = unname(table),
  over = over(table),
  tied = list(means = unname(tied), over = over(tied)[c("mean_ranks", "friedman", "iman_davenport", "nemenyi", "holm")])
)
write(toJSON(values, digits = 15, auto_unbox = TRUE, dataframe = "columns"), "tests/oracles/r/data_sets.json")
