// SPDX-License-Identifier: Apache-2.0
/*
 * The names of idle modes and states, and the rule for one reading; the line of text is in
 * idle_line.c. docs/design/idle-power.md has the reasons for each limit, with their sources.
 *
 * Sums are forgotten with a time constant of one hour of readings. A reading beyond 1.345 times the
 * scale of residuals counts only as much as one at that distance. There is no estimate while the
 * bounds of the slope, or the lowest sustained power and the line below it, are far apart. If the
 * power of a zone does not follow load, all of it is idle power, provided that the zone was quiet
 * at times: a power limit or a constant load looks flat, too.
 */
#include "attribution/learning/idle.h"

#include <errno.h>
#include <math.h>

#include "base/macro.h"
#include "base/num.h"

#define FORGET_S        3600.0              /* time constant of the regression and of the span */
#define FLOOR_WINDOW_NS (30 * NSEC_PER_SEC) /* what is held this long is "sustained" */
#define FLOOR_PERIOD_NS (12 * 3600 * NSEC_PER_SEC) /* half of what the floor remembers */
#define HUBER           1.345
#define NOISE_RATE      0.05 /* share of a new residual in the scale */
#define NOISE_CLIP      3.0  /* scales that a residual counts at most: growth is 10 % a reading */
#define NOISE_MIN_SHARE 1e-3 /* of the power: meters have steps, and 0 would refuse everything */
#define MIN_READINGS    10.0
#define MIN_T           5.0
#define MIN_DEVIATION   (IDLE_MIN_SPAN / 4) /* of x; an even spread over the span has 0.058 */
#define MAX_DOUBT       0.15                /* of the mean power, in the intercept */
#define MAX_REACH       0.15                /* of the mean power, from the floor to the intercept */
#define QUIET_X         0.20                /* utilisation that is near enough to 0 */
#define LOW_READINGS    1.5  /* deviations below the mean; an even spread ends at 1.73 */
#define FLAT_SHARE      0.05 /* of the mean power: what a full load adds at most to a flat zone */
#define FLAT_ERRORS     3.0  /* standard errors by which a flat zone's slope is surely that small */
#define FLAT_X          0.10 /* sustained utilisation at which a flat zone must have been seen */
#define REST_X          0.02 /* utilisation of the floor of a zone at rest */
#define MAX_POWER_W     1e6

const char *idle_state_name(enum idle_state state)
{
	static const char *const names[] = { "provisional", "learned", "fixed",
					     "off",         "model",   "absent" };

	return (size_t)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

bool idle_state_has_power(enum idle_state state)
{
	return state == IDLE_PROVISIONAL || state == IDLE_LEARNED || state == IDLE_FIXED;
}

void idle_learner_init(struct idle_learner *learner)
{
	*learner = (struct idle_learner){ .floor_w = -1, .floor_before_w = -1, .noise_w = -1 };
}

struct line {
	double intercept_w;
	double slope_w;       /* for utilisation 0 to 1 */
	double slope_error_w; /* its standard error */
	double residual_w;    /* root mean square */
	double deviation;     /* of x */
	double mean_x, mean_w;
	double doubt; /* how much lower the intercept may be, over the mean power */
};

/* False while the readings do not determine a line. */
static bool fit_line(const struct idle_learner *learner, struct line *ret)
{
	double w = learner->w, seconds_per_reading, independent;
	double mean_x, mean_y, var_x, var_y, cov, rest;

	if (learner->readings < MIN_READINGS || w <= 0)
		return false;
	mean_x = learner->wx / w;
	mean_y = learner->wy / w;
	var_x = learner->wxx / w - mean_x * mean_x;
	var_y = learner->wyy / w - mean_y * mean_y;
	cov = learner->wxy / w - mean_x * mean_y;
	if (var_x < 1e-9)
		return false;
	ret->slope_w = cov / var_x;
	ret->intercept_w = mean_y - ret->slope_w * mean_x;
	rest = fmax(var_y - ret->slope_w * cov, 0);
	ret->residual_w = sqrt(rest);
	ret->deviation = sqrt(var_x);
	ret->mean_x = mean_x;
	ret->mean_w = mean_y;
	ret->doubt =
		fmax(var_y / fmax(cov, 1e-12) - ret->slope_w, 0) * mean_x / fmax(mean_y, 1e-12);
	/* Readings closer than a second are not independent of each other. */
	seconds_per_reading = w / learner->readings;
	independent = learner->readings * fmin(seconds_per_reading, 1.0);
	ret->slope_error_w = sqrt(fmax(rest, 1e-12) / (fmax(independent - 2, 1e-12) * var_x));
	return true;
}

/* The weight of a reading that lies @off watts off the line, which also teaches the scale. */
static double huber_weight(struct idle_learner *learner, double off, double power_w)
{
	double scale, distance = fabs(off);

	scale = fmax(learner->noise_w, NOISE_MIN_SHARE * power_w);
	learner->noise_w =
		scale + NOISE_RATE * (fmin(distance * 1.2533, NOISE_CLIP * scale) - scale);
	/* 1.2533: standard deviation over mean distance, for normal noise */
	return distance <= HUBER * scale ? 1.0 : HUBER * scale / distance;
}

static void add_to_sums(struct idle_learner *learner, double x, double y, double weight,
			double seconds)
{
	double keep = exp(-seconds / FORGET_S), w = weight * seconds;

	learner->w = learner->w * keep + w;
	learner->wx = learner->wx * keep + w * x;
	learner->wy = learner->wy * keep + w * y;
	learner->wxx = learner->wxx * keep + w * x * x;
	learner->wxy = learner->wxy * keep + w * x * y;
	learner->wyy = learner->wyy * keep + w * y * y;
	learner->readings = learner->readings * keep + weight;
}

static void add_to_span(struct idle_learner *learner, double x, double seconds)
{
	double towards = -expm1(-seconds / FORGET_S);

	if (learner->time_ns == 0) {
		learner->x_min = learner->x_max = x;
		return;
	}
	learner->x_min = fmin(x, learner->x_min + (x - learner->x_min) * towards);
	learner->x_max = fmax(x, learner->x_max + (x - learner->x_max) * towards);
}

static void begin_window(struct idle_learner *learner)
{
	learner->floor_candidate_w = learner->floor_candidate_x = 0;
	learner->floor_window_ns = 0;
}

/*
 * The floor is a sliding minimum in two halves: a day's quiet hours bound the estimate, and what
 * was true the day before yesterday (before a disk was added) does not.
 */
static void add_to_floor(struct idle_learner *learner, double power_w, double x, uint64_t dt_ns)
{
	double before_s = (double)learner->floor_window_ns / 1e9, dt_s = (double)dt_ns / 1e9;
	double mean_w, mean_x;

	mean_w = (learner->floor_candidate_w * before_s + power_w * dt_s) / (before_s + dt_s);
	mean_x = (learner->floor_candidate_x * before_s + x * dt_s) / (before_s + dt_s);
	learner->floor_candidate_w = mean_w;
	learner->floor_candidate_x = mean_x;
	learner->floor_window_ns += dt_ns;
	if (learner->floor_window_ns < FLOOR_WINDOW_NS)
		return;
	if (learner->floor_age_ns >= FLOOR_PERIOD_NS) {
		learner->floor_before_w = learner->floor_w;
		learner->floor_before_x = learner->floor_x;
		learner->quiet_before_w = learner->quiet_w;
		learner->quiet_before_x = learner->quiet_x;
		learner->floor_w = -1;
		learner->floor_age_ns = 0;
	}
	learner->floor_age_ns += learner->floor_window_ns;
	mean_x = fmin(mean_x, 1); /* a mean may be off by a rounding */
	if (learner->floor_w < 0 || mean_x < learner->quiet_x) {
		learner->quiet_w = mean_w;
		learner->quiet_x = mean_x;
	}
	if (learner->floor_w < 0 || mean_w < learner->floor_w) {
		learner->floor_w = mean_w;
		learner->floor_x = mean_x;
	}
	begin_window(learner);
}

struct floor {
	double power_w, x;
};

/* Valid once the first window is over. */
static struct floor floor_of(const struct idle_learner *learner)
{
	if (learner->floor_before_w >= 0 && learner->floor_before_w < learner->floor_w)
		return (struct floor){ learner->floor_before_w, learner->floor_before_x };
	return (struct floor){ learner->floor_w, learner->floor_x };
}

/* The quietest time. Valid once the first window is over. */
static struct floor quiet_of(const struct idle_learner *learner)
{
	if (learner->floor_before_w >= 0 && learner->quiet_before_x < learner->quiet_x)
		return (struct floor){ learner->quiet_before_w, learner->quiet_before_x };
	return (struct floor){ learner->quiet_w, learner->quiet_x };
}

/*
 * Is there knowledge close enough to utilisation 0? Either a quiet time, or readings that reach
 * down there all the time because the load comes and goes by the second.
 */
static bool is_quiet_enough(const struct idle_learner *learner, const struct line *line)
{
	double spread = fmax(line->mean_x - LOW_READINGS * line->deviation, learner->x_min);
	double x = fmin(floor_of(learner).x, spread);

	return x <= QUIET_X || line->slope_w * x <= MAX_REACH * line->mean_w;
}

static bool has_span(const struct idle_learner *learner, const struct line *line)
{
	return learner->x_max - learner->x_min >= IDLE_MIN_SPAN && line->deviation >= MIN_DEVIATION;
}

static bool has_slope(const struct idle_learner *learner, const struct line *line)
{
	return learner->time_ns >= IDLE_MIN_TIME_NS && has_span(learner, line) &&
	       line->slope_w > MIN_T * line->slope_error_w && line->doubt <= MAX_DOUBT &&
	       is_quiet_enough(learner, line);
}

/* Loads were seen that a power that follows them would show, and quiet times as well. */
static bool is_flat(const struct idle_learner *learner, const struct line *line)
{
	double most_w = fabs(line->slope_w) + FLAT_ERRORS * line->slope_error_w;

	return has_span(learner, line) && quiet_of(learner).x <= FLAT_X &&
	       most_w <= FLAT_SHARE * line->mean_w;
}

/* Returns true if the floor is idle power itself. @line may be NULL. */
static bool is_floor_idle(const struct idle_learner *learner, const struct line *line)
{
	return learner->time_ns >= IDLE_REST_TIME_NS &&
	       (floor_of(learner).x <= REST_X || (line && is_flat(learner, line)));
}

/* Another reading of the line, weighed by how far it is off. */
static void add_to_line(struct idle_learner *learner, double power_w, double x, double seconds)
{
	double weight = 1.0;
	struct line line;

	if (fit_line(learner, &line)) {
		if (learner->noise_w < 0)
			learner->noise_w = line.residual_w;
		weight = huber_weight(learner, power_w - line.intercept_w - line.slope_w * x,
				      power_w);
	}
	add_to_sums(learner, x, power_w, weight, seconds);
	add_to_span(learner, x, seconds);
}

static void estimate(struct idle_learner *learner)
{
	struct floor floor = floor_of(learner);
	struct line line = { 0 };
	bool has_line;

	if (learner->floor_w < 0)
		return;
	has_line = fit_line(learner, &line);
	if (has_line && has_slope(learner, &line)) {
		learner->idle_w = fmax(line.intercept_w, floor.power_w - line.slope_w * floor.x);
		learner->idle_w = fmax(learner->idle_w, 0);
		learner->learned = true;
	} else if (!learner->learned && is_floor_idle(learner, has_line ? &line : NULL)) {
		learner->idle_w = floor.power_w;
		learner->learned = true;
	}
	if (learner->learned)
		learner->idle_w = fmin(learner->idle_w, floor.power_w);
}

static bool may_add(const struct idle_learner *learner, double power_w, double utilisation,
		    uint64_t dt_ns)
{
	return power_w >= 0 && power_w <= MAX_POWER_W && utilisation >= 0 && utilisation <= 1 &&
	       dt_ns && !__builtin_add_overflow(learner->time_ns, dt_ns, &(uint64_t){ 0 });
}

void idle_learner_add(struct idle_learner *learner, double power_w, double utilisation,
		      uint64_t dt_ns)
{
	if (!may_add(learner, power_w, utilisation, dt_ns))
		return;
	add_to_line(learner, power_w, utilisation, (double)dt_ns / 1e9);
	add_to_floor(learner, power_w, utilisation, dt_ns);
	learner->time_ns += dt_ns;
	estimate(learner);
}

void idle_learner_add_standstill(struct idle_learner *learner, double utilisation, uint64_t dt_ns)
{
	if (!may_add(learner, 0, utilisation, dt_ns))
		return;
	add_to_line(learner, 0, utilisation, (double)dt_ns / 1e9);
	begin_window(learner);
	learner->time_ns += dt_ns;
	estimate(learner);
}

bool idle_learner_get(const struct idle_learner *learner, uint64_t *ret_power_uw)
{
	if (!learner->learned)
		return false;
	*ret_power_uw = (uint64_t)llround(learner->idle_w * 1e6);
	return true;
}

/* @share at the utilisation @x, between its levels. */
static double share_at(const double share[static IDLE_SHARE_LEVELS], double x)
{
	double position = x * (IDLE_SHARE_LEVELS - 1);
	size_t level = (size_t)position;

	if (level >= IDLE_SHARE_LEVELS - 1)
		return share[IDLE_SHARE_LEVELS - 1];
	return share[level] + (share[level + 1] - share[level]) * (position - (double)level);
}

bool idle_learner_bound(const struct idle_learner *learner,
			const double idle_share[static IDLE_SHARE_LEVELS], uint64_t *ret_power_uw)
{
	struct floor quiet = { learner->floor_candidate_w, learner->floor_candidate_x };
	double most_w = learner->floor_candidate_w;

	if (learner->floor_w >= 0) {
		quiet = quiet_of(learner);
		most_w = floor_of(learner).power_w;
	} else if (!learner->floor_window_ns) {
		return false;
	}
	most_w = fmin(most_w, quiet.power_w * share_at(idle_share, quiet.x));
	*ret_power_uw = (uint64_t)llround(most_w * 1e6);
	return true;
}
