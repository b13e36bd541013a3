# Makes tests/report/r/values.json with caret. Run from the repository root:
#
#   Rscript tests/report/r/make_values.R
#
# matrix has rows = truth and columns = decision; caret wants decisions in rows, so it gets the
# transpose. null means that R gave NA or NaN. Numbers carry 17 digits.

Sys.setenv(TZ = "UTC")
suppressPackageStartupMessages(library(caret))

number <- function(x) if (is.na(x)) "null" else sprintf("%.17g", as.double(x))

judged <- function(m) {
  classes <- paste0("c", seq_len(nrow(m)))
  tab <- as.table(t(m))
  dimnames(tab) <- list(Prediction = classes, Reference = classes)
  overall <- suppressWarnings(confusionMatrix(tab))$overall
  rows <- apply(m, 1, function(row) paste0("[", paste(row, collapse = ","), "]"))
  sprintf('{"matrix":[%s],"null_accuracy":%s,"accuracy_p":%s,"mcnemar_p":%s}',
          paste(rows, collapse = ","), number(overall[["AccuracyNull"]]),
          number(overall[["AccuracyPValue"]]), number(overall[["McnemarPValue"]]))
}

# tn, fp, fn, tp
cells <- rbind(c(50, 10, 5, 35), c(90, 0, 0, 10), c(0, 40, 60, 0), c(1, 1, 1, 1), c(20, 0, 5, 0),
               c(0, 6, 0, 14), c(30, 0, 4, 6), c(30, 3, 0, 7), c(10, 5, 3, 0), c(980, 5, 10, 5),
               c(99000, 900, 20, 80), c(12, 88, 3, 97), c(250, 250, 250, 250), c(7, 2, 1, 3),
               c(400, 35, 60, 505), c(17, 19, 23, 29), c(999983, 11, 3, 3), c(45, 55, 52, 48),
               c(7743, 167, 324, 6635), c(60, 40, 10, 90))
many <- list(rbind(c(45, 3, 2), c(4, 38, 3), c(1, 2, 52)),
             rbind(c(10, 2, 0), c(3, 15, 0), c(1, 4, 0)),
             rbind(c(8, 1, 0, 1), c(2, 12, 1, 0), c(0, 0, 0, 0), c(1, 0, 2, 6)),
             rbind(c(100, 50, 25), c(60, 90, 30), c(40, 30, 75)))
cases <- c(lapply(seq_len(nrow(cells)), function(i) matrix(cells[i, ], 2, byrow = TRUE)), many)
lines <- paste0("  ", vapply(cases, judged, ""), collapse = ",\n")
version <- paste0('{"R":"', getRversion(), '","caret":"', packageVersion("caret"), '"}')
writeLines(paste0('{"meta":', version, ',\n"cases":[\n', lines, "\n]}"),
           "tests/report/r/values.json")
