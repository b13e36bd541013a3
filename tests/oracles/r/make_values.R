# Makes tests/oracles/r/values.json. Run from the repository root:
#
#   Rscript tests/oracles/r/make_values.R
#
# Every section is a list of cases {"name", "inputs", "outputs"}. Inputs are
# short decimals, so a reader gets the very numbers R used. Outputs carry 17
# significant digits. null means R gave NA or NaN; "Inf" means infinity.

Sys.setenv(TZ = "UTC")
suppressPackageStartupMessages({
  library(pROC)
  library(caret)
  library(e1071)
  library(Hmisc)
  library(epiR)
  library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20240229)

# ---- writing JSON ----------------------------------------------------------

num <- function(x, digits) {
  s <- sprintf(paste0("%.", digits, "g"), as.double(x))
  s[is.nan(x) | is.na(x)] <- "null"
  s[!is.na(x) & x == Inf] <- "\"Inf\""
  s[!is.na(x) & x == -Inf] <- "\"-Inf\""
  s
}

# A vector that is always written as an array, and a matrix as an array of rows.
vec <- function(x) structure(list(x = unname(x)), class = "vec")
mat <- function(x) structure(list(x = unname(as.matrix(x))), class = "mat")

js <- function(x, digits = 17) {
  arr <- function(s) paste0("[", paste(s, collapse = ","), "]")
  one <- function(v) {
    if (is.character(v)) return(vapply(v, function(s) as.character(toJSON(s, auto_unbox = TRUE)), ""))
    if (is.logical(v) && !anyNA(v)) return(ifelse(v, "true", "false"))
    num(v, digits)
  }
  if (inherits(x, "vec")) return(arr(one(x$x)))
  if (inherits(x, "mat")) return(arr(apply(x$x, 1, function(r) arr(one(r)))))
  if (is.list(x)) {
    if (is.null(names(x))) return(arr(vapply(x, js, "", digits = digits)))
    keys <- paste0("\"", names(x), "\":")
    return(paste0("{", paste0(keys, vapply(x, js, "", digits = digits), collapse = ","), "}"))
  }
  stopifnot(length(x) == 1)
  unname(one(unname(x)))
}

# Inputs need only 15 digits: each is a whole number divided by a power of ten.
case <- function(name, inputs, outputs) {
  paste0("{\"name\":", js(name), ",\"inputs\":", js(inputs, 15), ",\"outputs\":", js(outputs), "}")
}

sections <- list()
add <- function(section, ...) sections[[section]] <<- c(sections[[section]], case(...))

# Whole number divided by a power of ten: the double nearest to that decimal.
dec <- function(x, d) round(x * 10^d) / 10^d

# ---- data for the ROC sections ---------------------------------------------

# n rows, n1 of them positive; normal scores whose true AUC is `target`.
# digits sets how coarse the scores are, hence how many ties there are.
two_class <- function(n, n1, target, digits) {
  labels <- sample(rep(c(0, 1), c(n - n1, n1)))
  z <- rnorm(n) + labels * sqrt(2) * qnorm(target)
  list(labels = labels, scores = dec(z, digits))
}

distinct <- function(n, n1, target) {
  repeat {
    d <- two_class(n, n1, target, 4)
    if (!anyDuplicated(d$scores)) return(d)
  }
}

curve_of <- function(labels, scores) {
  roc(response = labels, predictor = scores, levels = c(0, 1), direction = "<", quiet = TRUE)
}

quiet <- function(e) suppressWarnings(suppressMessages(e))

roc_sets <- list(
  plain_20 = distinct(20, 10, 0.75),
  plain_24_low = distinct(24, 12, 0.30),
  plain_30 = distinct(30, 11, 0.85),
  plain_37 = distinct(37, 20, 0.60),
  plain_40_low = distinct(40, 18, 0.35),
  plain_50 = distinct(50, 25, 0.90),
  plain_60_half = distinct(60, 30, 0.50),
  plain_75 = distinct(75, 30, 0.80),
  plain_80 = distinct(80, 40, 0.95),
  plain_100 = distinct(100, 50, 0.70),
  plain_120 = distinct(120, 48, 0.88),
  plain_150 = distinct(150, 75, 0.98),
  plain_200 = distinct(200, 90, 0.65),
  plain_250 = distinct(250, 120, 0.99),
  plain_300 = distinct(300, 140, 0.78),
  rare_40 = distinct(40, 3, 0.80),
  rare_100 = distinct(100, 5, 0.90),
  rare_200 = distinct(200, 8, 0.70),
  rare_300 = distinct(300, 6, 0.95),
  common_60 = distinct(60, 55, 0.75),
  common_150 = distinct(150, 143, 0.85),
  two_positives_30 = distinct(30, 2, 0.70),
  ties_20 = two_class(20, 8, 0.70, 0),
  ties_30_low = two_class(30, 15, 0.30, 0),
  ties_45 = two_class(45, 20, 0.80, 0),
  ties_60 = two_class(60, 25, 0.90, 0),
  ties_80 = two_class(80, 40, 0.60, 1),
  ties_100 = two_class(100, 35, 0.75, 1),
  ties_120 = two_class(120, 60, 0.97, 1),
  ties_160_rare = two_class(160, 10, 0.85, 0),
  ties_200 = two_class(200, 100, 0.50, 0),
  ties_300_rare = two_class(300, 12, 0.92, 1)
)
# Hard 0/1 scores, so the curve has one corner.
flip <- sample(rep(c(0, 1), c(60, 40)))
roc_sets$binary_100 <- list(labels = flip, scores = ifelse(runif(100) < 0.2, 1 - flip, flip))
# Edge cases: perfect, all scores equal, one positive.
roc_sets$perfect_20 <- list(labels = rep(c(0, 1), c(12, 8)), scores = (1:20) / 100)
roc_sets$constant_20 <- list(labels = rep(c(0, 1), 10), scores = rep(0.5, 20))
roc_sets$one_positive_20 <- list(labels = rep(c(0, 1), c(19, 1)), scores = c(1:18, 20, 19) / 100)

# ---- delong ----------------------------------------------------------------
# Positive is 1; a higher score means more positive (direction "<"). The
# variance divides by (m - 1) and (n - 1). The interval is normal on the plain
# scale and pROC cuts it to [0, 1]. With one positive or one negative the
# variance and the interval are NA.

for (name in names(roc_sets)) {
  d <- roc_sets[[name]]
  r <- curve_of(d$labels, d$scores)
  ci <- quiet(ci.auc(r, method = "delong", conf.level = 0.95))
  add("delong", name,
      list(labels = vec(d$labels), scores = vec(d$scores), level = 0.95),
      list(auc = as.numeric(auc(r)), variance = quiet(pROC::var(r, method = "delong")),
           ci_lower = ci[1], ci_upper = ci[3]))
}

# ---- delong_paired ---------------------------------------------------------
# The difference is AUC a less AUC b. The interval of the difference is not cut
# to [-1, 1]. Two equal score vectors give Z = 0 and p = 1.

paired <- function(n, n1, ta, tb, rho, digits) {
  labels <- sample(rep(c(0, 1), c(n - n1, n1)))
  common <- rnorm(n)
  one <- function(t) {
    z <- sqrt(rho) * common + sqrt(1 - rho) * rnorm(n)
    dec(z + labels * sqrt(2) * qnorm(t), digits)
  }
  a <- one(ta)
  list(labels = labels, scores_a = a, scores_b = one(tb))
}

pair_sets <- list(
  plain_20 = paired(20, 10, 0.80, 0.60, 0.3, 4),
  plain_30 = paired(30, 12, 0.70, 0.75, 0.5, 4),
  plain_40 = paired(40, 20, 0.90, 0.70, 0.2, 4),
  plain_50 = paired(50, 25, 0.65, 0.85, 0.6, 4),
  plain_60 = paired(60, 30, 0.95, 0.93, 0.8, 4),
  plain_80 = paired(80, 30, 0.75, 0.75, 0.0, 4),
  plain_100 = paired(100, 50, 0.88, 0.70, 0.4, 4),
  plain_120 = paired(120, 60, 0.60, 0.62, 0.9, 4),
  plain_150 = paired(150, 70, 0.85, 0.80, 0.5, 4),
  plain_200 = paired(200, 100, 0.97, 0.90, 0.5, 4),
  far_apart_150 = paired(150, 75, 0.98, 0.35, 0.1, 4),
  below_half_60 = paired(60, 30, 0.35, 0.45, 0.3, 4),
  rare_100 = paired(100, 6, 0.90, 0.75, 0.5, 4),
  rare_200 = paired(200, 9, 0.80, 0.85, 0.3, 4),
  common_80 = paired(80, 73, 0.70, 0.80, 0.4, 4),
  ties_20 = paired(20, 9, 0.75, 0.60, 0.4, 0),
  ties_40 = paired(40, 20, 0.80, 0.70, 0.5, 0),
  ties_60 = paired(60, 22, 0.90, 0.85, 0.6, 0),
  ties_80 = paired(80, 40, 0.65, 0.75, 0.2, 1),
  ties_120 = paired(120, 50, 0.85, 0.70, 0.5, 1),
  ties_150_rare = paired(150, 10, 0.80, 0.90, 0.3, 0),
  mixed_scale_60 = local({
    d <- paired(60, 30, 0.80, 0.75, 0.3, 2)
    d$scores_b <- dec(1000 * d$scores_b, 0)
    d
  })
)
pair_sets$same_30 <- local({
  d <- distinct(30, 14, 0.75)
  list(labels = d$labels, scores_a = d$scores, scores_b = d$scores)
})

for (name in names(pair_sets)) {
  d <- pair_sets[[name]]
  ra <- curve_of(d$labels, d$scores_a)
  rb <- curve_of(d$labels, d$scores_b)
  t <- quiet(roc.test(ra, rb, method = "delong", paired = TRUE, conf.level = 0.95))
  add("delong_paired", name,
      list(labels = vec(d$labels), scores_a = vec(d$scores_a), scores_b = vec(d$scores_b),
           level = 0.95),
      list(auc_a = as.numeric(auc(ra)), auc_b = as.numeric(auc(rb)),
           variance_a = quiet(pROC::var(ra, method = "delong")),
           variance_b = quiet(pROC::var(rb, method = "delong")),
           covariance = quiet(pROC::cov(ra, rb, method = "delong")),
           z = as.numeric(t$statistic), p = as.numeric(t$p.value),
           ci_lower = t$conf.int[1], ci_upper = t$conf.int[2]))
}

# ---- partial_auc -----------------------------------------------------------
# Area for FPR from 0 to max_fpr, with linear interpolation at max_fpr.
# "corrected" is McClish: (1 + (pauc - min) / (max - min)) / 2, with
# min = max_fpr^2 / 2 and max = max_fpr. By default pROC gives NA when the
# partial area is below the diagonal (corrected_strict); with
# allow.invalid.partial.auc.correct = TRUE it gives the formula's value.

max_fpr <- c(0.05, 0.1, 0.2)
min_spec <- c(0.95, 0.9, 0.8)
partial_names <- setdiff(names(roc_sets), c("plain_250", "plain_300", "plain_200",
                                            "ties_200", "rare_300", "ties_120"))
for (name in partial_names) {
  d <- roc_sets[[name]]
  r <- curve_of(d$labels, d$scores)
  area <- function(correct, allow) {
    vec(vapply(min_spec, function(s) {
      as.numeric(quiet(auc(r, partial.auc = c(1, s), partial.auc.focus = "specificity",
                           partial.auc.correct = correct,
                           allow.invalid.partial.auc.correct = allow)))
    }, 0))
  }
  add("partial_auc", name,
      list(labels = vec(d$labels), scores = vec(d$scores), max_fpr = vec(max_fpr)),
      list(pauc = area(FALSE, FALSE), corrected = area(TRUE, TRUE),
           corrected_strict = area(TRUE, FALSE)))
}

# ---- mcnemar ---------------------------------------------------------------
# table is [[a, b], [c, d]]. R skips the continuity correction when b = c.
# All values are NA when b + c = 0.

bc <- rbind(c(0, 0), c(0, 1), c(1, 0), c(1, 1), c(0, 2), c(2, 1), c(3, 3), c(5, 0), c(0, 6),
            c(4, 9), c(10, 10), c(11, 10), c(12, 5), c(7, 22), c(25, 25), c(30, 14), c(18, 41),
            c(50, 49), c(60, 20), c(75, 110), c(100, 100), c(121, 59), c(150, 149), c(200, 170),
            c(0, 250), c(300, 0), c(300, 300), c(300, 240), c(299, 300), c(3, 90))
for (i in seq_len(nrow(bc))) {
  b <- bc[i, 1]
  cc <- bc[i, 2]
  ad <- sample(0:500, 2)
  m <- matrix(c(ad[1], b, cc, ad[2]), nrow = 2, byrow = TRUE)
  t1 <- mcnemar.test(m, correct = TRUE)
  t0 <- mcnemar.test(m, correct = FALSE)
  exact <- if (b + cc == 0) NA else binom.test(b, b + cc, p = 0.5)$p.value
  add("mcnemar", paste0("b", b, "_c", cc), list(table = mat(m)),
      list(statistic_corrected = t1$statistic, p_corrected = t1$p.value,
           statistic = t0$statistic, p = t0$p.value, p_exact = exact))
}

# ---- confusion and confusion_multiclass ------------------------------------
# matrix has rows = truth and columns = prediction, in the order of classes.
# caret wants predictions in rows, so it gets the transpose. caret finds the
# predictive values from sensitivity, specificity and prevalence, but
# precision straight from the counts.

by_class_keys <- c(sensitivity = "Sensitivity", specificity = "Specificity",
                   pos_pred_value = "Pos Pred Value", neg_pred_value = "Neg Pred Value",
                   precision = "Precision", recall = "Recall", f1 = "F1",
                   prevalence = "Prevalence", detection_rate = "Detection Rate",
                   detection_prevalence = "Detection Prevalence",
                   balanced_accuracy = "Balanced Accuracy")
overall_keys <- c(accuracy = "Accuracy", kappa = "Kappa", accuracy_lower = "AccuracyLower",
                  accuracy_upper = "AccuracyUpper")

caret_matrix <- function(m, classes, positive = NULL) {
  tab <- as.table(t(m))
  dimnames(tab) <- list(Prediction = classes, Reference = classes)
  quiet(confusionMatrix(tab, positive = positive))
}

# tn, fp, fn, tp
cells <- rbind(c(50, 10, 5, 35), c(90, 0, 0, 10), c(0, 40, 60, 0), c(1, 1, 1, 1), c(5, 0, 0, 0),
               c(0, 0, 0, 7), c(20, 0, 5, 0), c(0, 6, 0, 14), c(30, 0, 4, 6), c(30, 3, 0, 7),
               c(0, 8, 0, 0), c(0, 0, 9, 0), c(10, 5, 3, 0), c(0, 5, 3, 12), c(980, 5, 10, 5),
               c(99000, 900, 20, 80), c(12, 88, 3, 97), c(250, 250, 250, 250), c(7, 2, 1, 3),
               c(1000, 1, 1, 0), c(400, 35, 60, 505), c(3, 1, 4, 1), c(17, 19, 23, 29),
               c(999983, 11, 3, 3), c(45, 55, 52, 48), c(60, 40, 10, 90), c(1, 0, 0, 1),
               c(8, 0, 3, 1))
for (i in seq_len(nrow(cells))) {
  m <- matrix(cells[i, ], nrow = 2, byrow = TRUE)
  classes <- c("neg", "pos")
  positive <- if (i %% 7 == 0) "neg" else "pos"
  cm <- caret_matrix(m, classes, positive)
  # The transpose is right: the count of positive truth is a column sum in caret.
  stopifnot(sum(cm$table[, positive]) == sum(m[match(positive, classes), ]))
  add("confusion", paste(c("cells", cells[i, ]), collapse = "_"),
      list(classes = vec(classes), positive = positive, matrix = mat(m)),
      c(lapply(overall_keys, function(k) cm$overall[[k]]),
        lapply(by_class_keys, function(k) cm$byClass[[k]])))
}

multi <- function(k, n, skill) {
  truth <- sample(k, n, replace = TRUE, prob = rexp(k) + 0.1)
  pred <- ifelse(runif(n) < skill, truth, sample(k, n, replace = TRUE))
  matrix(tabulate((pred - 1) * k + truth, k * k), nrow = k)
}
multi_sets <- list(three_100 = multi(3, 100, 0.7), three_1000 = multi(3, 1000, 0.4),
                   three_30 = multi(3, 30, 0), four_200 = multi(4, 200, 0.8),
                   four_60 = multi(4, 60, 0.3), five_500 = multi(5, 500, 0.6),
                   five_80 = multi(5, 80, 0.9), six_1000 = multi(6, 1000, 0.5),
                   six_120 = multi(6, 120, 0.7),
                   three_diagonal = diag(c(4, 9, 2)),
                   three_never_predicted = rbind(c(10, 2, 0), c(3, 15, 0), c(1, 4, 0)),
                   four_class_absent = rbind(c(8, 1, 0, 1), c(2, 12, 1, 0), c(0, 0, 0, 0),
                                             c(1, 0, 2, 6)))
for (name in names(multi_sets)) {
  m <- multi_sets[[name]]
  classes <- paste0("c", seq_len(nrow(m)))
  cm <- caret_matrix(m, classes)
  per_class <- lapply(by_class_keys, function(k) vec(cm$byClass[, k]))
  add("confusion_multiclass", name, list(classes = vec(classes), matrix = mat(m)),
      c(lapply(overall_keys, function(k) cm$overall[[k]]), list(per_class = per_class)))
}

# ---- proportion ------------------------------------------------------------
# clopper_pearson: binom.test. wilson: prop.test without correction (lower is 0
# at k = 0 and upper is 1 at k = n). agresti_coull and jeffreys: epiR; wald:
# Hmisc. None of these three is cut to [0, 1], and jeffreys is the plain
# beta(k + 1/2, n - k + 1/2) interval, also at k = 0 and k = n.
# Hmisc's own Wilson is not used: it changes a limit at k = 1 and k = n - 1.

kn <- rbind(c(0, 1), c(1, 1), c(0, 2), c(1, 2), c(2, 2), c(0, 3), c(1, 3), c(2, 3), c(0, 5),
            c(1, 5), c(3, 5), c(5, 5), c(0, 10), c(1, 10), c(4, 10), c(5, 10), c(9, 10),
            c(10, 10), c(0, 20), c(1, 20), c(7, 20), c(19, 20), c(20, 20), c(15, 30), c(29, 30),
            c(0, 50), c(3, 50), c(25, 50), c(48, 50), c(50, 50), c(0, 100), c(1, 100),
            c(10, 100), c(50, 100), c(81, 100), c(99, 100), c(100, 100), c(2, 200), c(137, 200),
            c(0, 500), c(11, 500), c(263, 500), c(500, 500), c(0, 1000), c(1, 1000),
            c(333, 1000), c(999, 1000), c(1000, 1000), c(4, 5000), c(2500, 5000),
            c(4990, 5000), c(0, 10000), c(7, 10000), c(9876, 10000), c(31, 100000),
            c(50000, 100000), c(0, 1e6), c(1, 1e6), c(123456, 1e6), c(999999, 1e6), c(1e6, 1e6))
for (i in seq_len(nrow(kn))) {
  k <- kn[i, 1]
  n <- kn[i, 2]
  for (level in c(0.9, 0.95, 0.99)) {
    cp <- binom.test(k, n, conf.level = level)$conf.int
    wi <- quiet(prop.test(k, n, conf.level = level, correct = FALSE))$conf.int
    ac <- epi.conf(cbind(k, n), ctype = "prevalence", method = "agresti", N = 1e9,
                   design = 1, conf.level = level)
    je <- epi.conf(cbind(k, n), ctype = "prevalence", method = "jeffreys", N = 1e9,
                   design = 1, conf.level = level)
    wa <- binconf(k, n, alpha = 1 - level, method = "asymptotic")
    add("proportion", paste0("k", k, "_n", format(n, scientific = FALSE), "_", level),
        list(k = k, n = n, level = level),
        list(clopper_pearson = vec(c(cp[1], cp[2])), wilson = vec(c(wi[1], wi[2])),
             agresti_coull = vec(c(ac$lower, ac$upper)), jeffreys = vec(c(je$lower, je$upper)),
             wald = vec(c(wa[1, "Lower"], wa[1, "Upper"]))))
  }
}

# ---- t_paired --------------------------------------------------------------
# The difference is a less b.

folds <- c(3, 3, 4, 5, 5, 5, 6, 8, 10, 10, 10, 12, 15, 20, 30)
for (i in seq_along(folds)) {
  n <- folds[i]
  a <- dec(0.85 + rnorm(n, 0, 0.03), 4)
  b <- dec(a + rnorm(n, c(-0.02, 0, 0.001, 0.05)[i %% 4 + 1], 0.015), 4)
  t <- t.test(a, b, paired = TRUE, conf.level = 0.95)
  add("t_paired", paste0("folds_", n, "_", i), list(a = vec(a), b = vec(b), level = 0.95),
      list(mean_difference = t$estimate, statistic = t$statistic, df = t$parameter,
           p = t$p.value, ci_lower = t$conf.int[1], ci_upper = t$conf.int[2]))
}

# ---- friedman and ptukey ---------------------------------------------------
# matrix has rows = blocks and columns = models. The statistic is corrected
# for ties. Rank 1 is the lowest value in a row; ties get the mean rank.

blocks <- rbind(c(4, 3, 3), c(5, 4, 4), c(6, 3, 4), c(8, 5, 4), c(10, 4, 3), c(12, 6, 2),
                c(15, 3, 4), c(20, 8, 4), c(10, 5, 1), c(8, 4, 1), c(14, 10, 3), c(5, 2, 4))
for (i in seq_len(nrow(blocks))) {
  n <- blocks[i, 1]
  k <- blocks[i, 2]
  y <- matrix(rnorm(n * k, rep(seq(0, runif(1, 0, 1.5), length.out = k), each = n)), nrow = n)
  y <- dec(y, blocks[i, 3])
  t <- friedman.test(y)
  ties <- any(apply(y, 1, anyDuplicated) > 0)
  add("friedman", paste0("blocks_", n, "_models_", k, if (ties) "_ties"),
      list(matrix = mat(y)),
      list(statistic = t$statistic, df = t$parameter, p = t$p.value,
           mean_ranks = vec(colMeans(t(apply(y, 1, rank))))))
}

# Upper tail of the studentized range with infinite df, for Nemenyi. R sums this
# integral with a fixed rule: compare with a relative tolerance of 1e-7.
q_values <- c(0.5, 1.2, 2.0, 2.9, 3.314493, 4.1, 5.5)
for (k in c(2, 3, 4, 5, 8, 12)) {
  for (q in q_values) {
    add("ptukey", paste0("q", q, "_k", k), list(q = q, k = k),
        list(p = ptukey(q, k, Inf, lower.tail = FALSE)))
  }
}

# ---- cochran ---------------------------------------------------------------
# Base R has no Cochran's Q. This is the definition, with pchisq. The same value
# must come from the Cochran-Mantel-Haenszel test with one stratum per row.

cochran_q <- function(x) {
  k <- ncol(x)
  col <- colSums(x)
  row <- rowSums(x)
  (k - 1) * (k * sum(col^2) - sum(col)^2) / (k * sum(row) - sum(row^2))
}

for (i in 1:12) {
  n <- c(6, 10, 12, 15, 20, 25, 30, 40, 50, 60, 10, 8)[i]
  k <- c(3, 2, 4, 3, 5, 2, 4, 6, 3, 4, 3, 3)[i]
  hard <- runif(n)
  x <- 1 * (matrix(runif(n * k), n) < outer(hard, seq(0.5, 1.3, length.out = k)))
  if (i == 11) x[] <- rep(rep(c(0, 1), 5), k)  # every row constant: 0 / 0
  if (i == 12) x[] <- c(rep(1, 8), rep(0, 8), rep(c(0, 1), 4))
  q <- cochran_q(x)
  df <- k - 1
  if (!is.nan(q)) {
    strata <- sapply(seq_len(n), function(r) cbind(x[r, ], 1 - x[r, ]), simplify = "array")
    check <- mantelhaen.test(strata, correct = FALSE)$statistic
    stopifnot(isTRUE(all.equal(unname(check), q, tolerance = 1e-12)))
  }
  add("cochran", paste0("rows_", n, "_models_", k, if (i == 11) "_constant_rows"),
      list(matrix = mat(x)),
      list(statistic = q, df = df, p = pchisq(q, df, lower.tail = FALSE)))
}

# ---- adjust ----------------------------------------------------------------

p_sets <- list(
  one = 0.03, two = c(0.01, 0.04), two_equal = c(0.02, 0.02), three = c(0.2, 0.01, 0.03),
  ones = c(1, 1, 1, 1), zeros = c(0, 0.5, 0, 1), all_equal = rep(0.05, 6),
  small = dec(runif(8, 0, 0.01), 8), large = dec(runif(7, 0.4, 1), 4),
  ties = c(0.01, 0.02, 0.02, 0.03, 0.03, 0.03, 0.5), falling = (10:1) / 100,
  tiny = c(1e-12, 1e-9, 1e-6, 1e-3, 0.5), mixed_12 = dec(rbeta(12, 0.5, 2), 6),
  mixed_25 = dec(rbeta(25, 0.3, 1), 6), uniform_50 = dec(runif(50), 5),
  near_alpha = c(0.049, 0.05, 0.051, 0.0125, 0.0166, 0.025)
)
for (name in names(p_sets)) {
  p <- p_sets[[name]]
  add("adjust", name, list(p = vec(p)),
      list(holm = vec(p.adjust(p, "holm")), bh = vec(p.adjust(p, "BH"))))
}

# ---- hand_till -------------------------------------------------------------
# labels are 0-based column numbers. For each pair of classes pROC takes the
# mean of A(i|j), ranked by column i, and A(j|i), ranked by column j, both on
# rows of those two classes only, and then the plain mean over the pairs.
# This is the M of Hand and Till. Class sizes give no weight.

prob_rows <- function(n, k, skill, unit) {
  truth <- c(seq_len(k), sample(k, n - k, replace = TRUE, prob = seq(1, 2, length.out = k)))
  e <- matrix(rexp(n * k), n)
  e[cbind(seq_len(n), truth)] <- e[cbind(seq_len(n), truth)] + rexp(n, 1 / skill)
  whole <- floor(e / rowSums(e) * unit)
  top <- cbind(seq_len(n), max.col(whole, "first"))
  whole[top] <- whole[top] + unit - rowSums(whole)  # rows sum to one
  list(labels = truth - 1, probabilities = whole / unit)
}
till_sets <- list(three_30 = prob_rows(30, 3, 1.5, 1e6), three_90 = prob_rows(90, 3, 0.5, 1e6),
                  three_60_ties = prob_rows(60, 3, 1, 10), four_50 = prob_rows(50, 4, 1, 1e6),
                  four_100 = prob_rows(100, 4, 3, 1e6), four_80_ties = prob_rows(80, 4, 2, 10),
                  five_60 = prob_rows(60, 5, 1, 1e6), five_120 = prob_rows(120, 5, 2, 1e6),
                  five_40_weak = prob_rows(40, 5, 0.05, 1e6))
for (name in names(till_sets)) {
  d <- till_sets[[name]]
  classes <- paste0("c", seq_len(ncol(d$probabilities)) - 1)
  colnames(d$probabilities) <- classes
  r <- multiclass.roc(factor(classes[d$labels + 1], levels = classes), d$probabilities)
  add("hand_till", name, list(labels = vec(d$labels), probabilities = mat(d$probabilities)),
      list(auc = as.numeric(r$auc)))
}

# ---- epi -------------------------------------------------------------------
# epiR::epi.tests. Limits are for the level, on the log scale.

epi_cells <- rbind(c(670, 202, 74, 640), c(35, 10, 5, 50), c(80, 900, 20, 99000), c(8, 2, 3, 7),
                   c(90, 40, 10, 60), c(12, 30, 28, 30), c(500, 1, 1, 500), c(3, 9, 11, 14),
                   c(20, 0, 5, 75), c(20, 6, 0, 74), c(0, 4, 9, 37), c(5, 50, 6, 0))
for (i in seq_len(nrow(epi_cells))) {
  v <- epi_cells[i, ]
  d <- quiet(epi.tests(v, method = "exact", conf.level = 0.95))$detail
  get <- function(stat, col) d[d$statistic == stat, col]
  add("epi", paste(c("cells", v), collapse = "_"),
      list(tp = v[1], fp = v[2], fn = v[3], tn = v[4], level = 0.95),
      list(lr_pos = get("lr.pos", "est"), lr_pos_lower = get("lr.pos", "lower"),
           lr_pos_upper = get("lr.pos", "upper"), lr_neg = get("lr.neg", "est"),
           lr_neg_lower = get("lr.neg", "lower"), lr_neg_upper = get("lr.neg", "upper"),
           dor = get("diag.or", "est"), dor_lower = get("diag.or", "lower"),
           dor_upper = get("diag.or", "upper"), youden = get("youden", "est")))
}

# ---- write -----------------------------------------------------------------

used <- c("pROC", "caret", "e1071", "Hmisc", "epiR", "jsonlite")
versions <- lapply(setNames(used, used), function(p) as.character(packageVersion(p)))
meta <- list(r = paste(R.version$major, R.version$minor, sep = "."), packages = versions,
             rng = vec(RNGkind()))
body <- vapply(names(sections), function(s) {
  paste0("\"", s, "\":[\n", paste(sections[[s]], collapse = ",\n"), "\n]")
}, "")
text <- paste0("{\n\"meta\":", js(meta), ",\n", paste(body, collapse = ",\n"), "\n}\n")
stopifnot(isTRUE(as.logical(validate(text))), nchar(text) < 400000)
path <- "tests/oracles/r/values.json"
cat(text, file = path, sep = "")
cat(sprintf("%-22s %d cases\n", names(sections), lengths(sections)), sep = "")
cat("R", meta$r, paste(names(versions), unlist(versions)), sep = "\n")
