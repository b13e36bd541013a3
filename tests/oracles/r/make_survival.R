# Makes tests/oracles/r/survival.json. Run from the repository root:
#
#   Rscript tests/oracles/r/make_survival.R
#
# Kaplan-Meier curves of survival::survfit with Greenwood's variance, intervals on the log(-log)
# scale and the median, and the bounds of Hall and Wellner's band that km.ci keeps as a table.
# Inputs are short decimals, so a reader gets the very numbers R used; outputs carry 15 significant
# digits, and NA is null.

suppressPackageStartupMessages({
  library(survival)
  library(km.ci)
  library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261116)

cases <- list()
add <- function(name, time, event, level = 0.95) {
  fit <- survfit(Surv(time, event) ~ 1, conf.type = "log-log", conf.int = level)
  half <- quantile(fit, 0.5)
  cases[[length(cases) + 1]] <<- list(
    name = name, level = level, time = I(time), event = I(event),
    times = I(fit$time), at_risk = I(fit$n.risk), events = I(fit$n.event),
    censored = I(fit$n.censor), survival = I(fit$surv), log_error = I(fit$std.err),
    low = I(fit$lower), high = I(fit$upper),
    median = unname(half$quantile), median_low = unname(half$lower),
    median_high = unname(half$upper)
  )
}

drawn <- function(n, digits, censoring) {
  time <- round(rexp(n, 1 / 300), digits)
  cut <- round(rexp(n, censoring / 300), digits)
  list(time = pmin(time, cut), event = as.integer(time <= cut))
}

add("leukaemia, treated", aml$time[aml$x == "Maintained"], aml$status[aml$x == "Maintained"])
add("leukaemia, untreated", aml$time[aml$x != "Maintained"], aml$status[aml$x != "Maintained"])
add("lung", lung$time, lung$status - 1)
add("lung at 90%", lung$time, lung$status - 1, 0.9)
add("one detected", 12.5, 1)
add("one missed", 12.5, 0)
add("all missed", c(1, 2, 2, 7), c(0, 0, 0, 0))
add("all at once", rep(4, 9), rep(1, 9))
add("none missed, even", c(1, 2, 3, 4, 5, 6, 7, 8), rep(1, 8))
add("none missed, odd", c(1, 2, 3, 4, 5, 6, 7, 8, 9), rep(1, 9))
add("detected at once", c(0, 0, 1, 3, 3, 3, 9), c(1, 1, 1, 1, 0, 1, 0))
add("detected and missed at one time", c(5, 5, 5, 5, 8, 8, 8), c(1, 0, 1, 0, 0, 1, 1))
add("half left for good", c(1, 2, 3, 9, 9, 9), c(1, 1, 1, 0, 0, 0))
for (n in c(7, 30, 200)) {
  for (censoring in c(0.2, 1)) {
    made <- drawn(n, 0, censoring)
    add(sprintf("drawn, %d with censoring %.1f", n, censoring), made$time, made$event)
  }
}

# Rows are the end of the range, columns its start; the start is 0 here.
ends <- seq(0.1, 1, by = 0.02)
bounds <- function(table) I(unname(table[, 1]))
made <- list(
  made_by = list(R = as.character(getRversion()),
                 survival = as.character(packageVersion("survival")),
                 km.ci = as.character(packageVersion("km.ci"))),
  cases = cases,
  hall_wellner = list(share = I(ends), `0.9` = bounds(critical.value.hall.90),
                      `0.95` = bounds(critical.value.hall.95),
                      `0.99` = bounds(critical.value.hall.99))
)
cat(toJSON(made, digits = NA, auto_unbox = TRUE, na = "null"), "\n", sep = "",
    file = "tests/oracles/r/survival.json")
