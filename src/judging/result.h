/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result: one question about an exporter, its answer, and everything that a report shows of it.
 *
 * A verdict has a threshold: a result without one is never "pass" or "fail" (result_set_verdict()
 * makes it "not applicable"). Numbers that are not known are NAN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "judging/result_table.h"
#include "judging/series.h"

#define RESULT_NAME_MAX   160
#define RESULT_REASON_MAX 512
#define RESULTS_MAX       4096

enum result_kind {
	RESULT_CORRECTNESS,  /* does it say what is so? units, types, series that must be there */
	RESULT_CONSERVATION, /* do the parts sum to the whole? */
	RESULT_ACCURACY,     /* is it near the truth? */
	RESULT_PUBLISHED,    /* does a published number follow from its series? */
};

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_INCONCLUSIVE,   /* it was tried, and cannot be decided */
	VERDICT_NOT_APPLICABLE, /* nothing to judge here, or no threshold */
};

/* Why two series differ, found by rule (judging/judge.h). */
enum cause {
	CAUSE_NONE,
	CAUSE_SCALE,
	CAUSE_OFFSET,
	CAUSE_SHAPE,
	CAUSE_LAG,
	CAUSE_SATURATION,
	CAUSE_FROZEN, /* its numbers do not change any more */
};

/* NAN: not bounded. A check that must hold exactly has a max_error of 0. */
struct threshold {
	double max_error; /* of energies, and of the shape in parts of the range: a ratio, 0.05 */
	double max_lag_s;
	double truth_error; /* of the actual energies themselves, as a ratio; 0: not known */
};

/* How two series differ. Ratios are predicted / actual. Formulas: judging/judge.h. */
struct errors {
	double actual, predicted; /* amounts over all that is paired, in unit × s (J) */
	double energy_ratio;
	double ratio_low, ratio_high; /* its 95 % interval */
	double range;                 /* of the actual series: judging/fit.h, in its unit */
	double lag_s;                 /* > 0: the predicted series is late */
	double scale;
	double offset;     /* in the series' unit (W) */
	double shape;      /* what remains after lag, scale and offset, as a ratio of the range */
	double saturated;  /* the part of the windows in which the prediction is at its limit */
	double mae, bias;  /* in the series' unit */
	double median_ape; /* ratio, of windows above 5 % of the range */
	double r2;
	double mse, mape; /* for comparison with reports of upstream; mape is a ratio */
	size_t pairs;
	double paired_s;
	double unpaired_actual_s, unpaired_predicted_s; /* windows without a counterpart */
};

struct phase {
	char name[64];
	double start_s, end_s;
};

struct phase_result {
	struct phase phase;
	double actual, predicted;     /* unit × s (J); NAN: the phase is not covered */
	double ratio_low, ratio_high; /* 95 % interval of predicted / actual; NAN: too short */
	double error;                 /* signed ratio, as the threshold bounds it */
	enum verdict verdict;
};

struct result {
	char name[RESULT_NAME_MAX];     /* "node/package", "conservation/pod" */
	char exporter[RESULT_NAME_MAX]; /* source of the judged numbers: a URL or a file; "" */
	char reason[RESULT_REASON_MAX]; /* a sentence */
	enum result_kind kind;
	enum verdict verdict;
	enum cause cause;
	struct threshold threshold;
	/*
	 * The times of the predicted readings are known to within ± this, besides a constant delay:
	 * judging/reading_times.h. 0: exactly.
	 */
	double time_error_s;
	bool has_short_phases; /* longer ones could decide what is inconclusive */
	double error;          /* what max_error bounds, the worst of it, as a ratio; NAN: none */
	bool has_errors;
	struct errors errors;
	struct phase_result *phases;
	size_t phase_count;
	struct series *actual, *predicted; /* owned; NULL: not a comparison */
	struct result_table *table;        /* owned; NULL: none */
};

struct result_list {
	struct result **items;
	size_t count;
	size_t size;
};

/*
 * The verdict on an energy with an error between @low and @high (signed ratios) by simple
 * acceptance and guarded rejection, as ILAC-G8 calls it. A pass: the whole interval is within
 * max_error. A failure: the whole interval is beyond max_error by more than truth_error, so that
 * the truth's own error cannot be the reason. Else it is inconclusive; so is what would be a pass,
 * if truth_error is larger than max_error. Not applicable without max_error.
 */
enum verdict threshold_verdict(const struct threshold *threshold, double low, double high);
/*
 * May more data decide what is inconclusive? The interval of the error, from @low to @high,
 * includes the bound; but @error is not where the truth's own error alone leaves it open.
 */
bool threshold_is_open(const struct threshold *threshold, double error, double low, double high);
/* "±5 %", or "±5 %, own error of the truth ±1 %". */
#define THRESHOLD_TEXT_MAX 96
void threshold_text(const struct threshold *threshold, char ret[static THRESHOLD_TEXT_MAX]);

/*
 * A result that is "not applicable" so far, without a threshold. NULL without memory. Control
 * characters in its name, and later in its reason, become "?".
 */
struct result *result_new(const char *name, enum result_kind kind);
void result_free(struct result *result);
/*
 * The verdict with its reason. Without a threshold, pass and fail become "not applicable", and the
 * reason says so.
 */
void result_set_verdict(struct result *result, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes @result over, also when it fails: -ENOMEM, or -ENOSPC at RESULTS_MAX. */
int result_list_add(struct result_list *list, struct result *result);
void result_list_release(struct result_list *list);
/*
 * The verdict on all: fail if one fails, else inconclusive if one is, else pass if one passes, else
 * not applicable.
 */
enum verdict result_list_verdict(const struct result_list *list);
size_t result_list_count(const struct result_list *list, enum verdict verdict);
/* A program's exit code: 0 only for pass, 1 fail, 3 inconclusive or not applicable. */
int verdict_exit_code(enum verdict verdict);

/* "pass", "fail", "inconclusive", "not applicable"; "scale", …; "correctness", … */
const char *verdict_name(enum verdict verdict);
const char *cause_name(enum cause cause);
const char *result_kind_name(enum result_kind kind);
