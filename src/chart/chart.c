// SPDX-License-Identifier: Apache-2.0
#include "chart/chart.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text/html.h"

/* Sizes of the picture, in its own units. */
#define WIDTH         560
#define HEIGHT        340
#define LEFT          58
#define RIGHT         14
#define TOP           28
#define BOTTOM        44

#define AMOUNT_HEIGHT 22
#define AMOUNT_LEFT   190

struct range {
	double low, high, step;
};

/* Positions of values in the picture. */
struct plane {
	struct range x, y;
};

double chart_step(double low, double high, unsigned wanted)
{
	double rough = (high - low) / wanted;
	double power = pow(10, floor(log10(rough)));
	double digit = rough / power;

	return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void widen(struct range *range, double value)
{
	if (!isfinite(value))
		return;
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

/* To whole steps; a range without extent gets one. */
static void round_out(struct range *range, bool from_zero, unsigned steps)
{
	if (!(range->low <= range->high)) {
		range->low = 0;
		range->high = 1;
	}
	if (from_zero && range->low > 0)
		range->low = 0;
	if (range->high - range->low < 1e-9 * fmax(1, fabs(range->high)))
		range->high = range->low + fmax(1, fabs(range->low));
	range->step = chart_step(range->low, range->high, steps);
	range->low = floor(range->low / range->step + 1e-9) * range->step;
	range->high = ceil(range->high / range->step - 1e-9) * range->step;
}

static void round_to_decades(struct range *range)
{
	if (!(range->low <= range->high))
		range->low = range->high = 0;
	range->step = 1;
	range->low = floor(range->low + 1e-9);
	range->high = fmax(ceil(range->high - 1e-9), range->low + 1);
}

static void measure(const struct chart *chart, struct plane *plane)
{
	const struct range none = { (double)INFINITY, -(double)INFINITY, 0 };

	*plane = (struct plane){ .x = none, .y = none };
	for (size_t s = 0; s < chart->series_count; s++) {
		const struct chart_series *series = &chart->series[s];

		for (size_t i = 0; i < series->count; i++) {
			widen(&plane->x, series->x[i]);
			widen(&plane->y, series->y[i]);
			if (series->form == CHART_BAND)
				widen(&plane->y, series->y2[i]);
			if (series->form == CHART_BARS) {
				widen(&plane->x, series->x[i] + series->bar_width);
				widen(&plane->y, 0);
			}
		}
	}
	if (chart->diagonal) {
		widen(&plane->x, plane->y.low);
		widen(&plane->x, plane->y.high);
		plane->y = plane->x;
	}
	if (chart->zero_line)
		widen(&plane->y, 0);
	if (chart->decades) {
		round_to_decades(&plane->x);
		round_to_decades(&plane->y);
		return;
	}
	if (!chart->x_as_is || !(plane->x.high > plane->x.low))
		round_out(&plane->x, chart->from_zero, 6);
	else
		plane->x.step = chart_step(plane->x.low, plane->x.high, 6);
	round_out(&plane->y, chart->from_zero, 5);
	if (chart->x_whole)
		plane->x.step = fmax(plane->x.step, 1);
	if (chart->diagonal)
		plane->y = plane->x;
}

static double at_x(const struct plane *plane, double value)
{
	return LEFT +
	       (value - plane->x.low) / (plane->x.high - plane->x.low) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct plane *plane, double value)
{
	return HEIGHT - BOTTOM -
	       (value - plane->y.low) / (plane->y.high - plane->y.low) * (HEIGHT - TOP - BOTTOM);
}

/* Without a locale's comma, and no longer than it needs to be. */
static void add_number(struct strbuf *out, double value, int digits)
{
	double scale = pow(10, digits);
	int64_t whole = llround(fmin(fmax(value, -1e12), 1e12) * scale);
	uint64_t size = (uint64_t)(whole < 0 ? -whole : whole);
	uint64_t unit = (uint64_t)scale;
	uint64_t rest = size % unit;

	if (whole < 0)
		strbuf_add_char(out, '-');
	strbuf_add_u64(out, size / unit);
	while (rest && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	if (rest)
		strbuf_addf(out, ".%0*llu", digits, (unsigned long long)rest);
}

static void add_coordinates(struct strbuf *out, double x, double y)
{
	add_number(out, x, 1);
	strbuf_add_char(out, ' ');
	add_number(out, y, 1);
}

static void add_label(struct strbuf *out, const char *class, double x, double y, const char *text)
{
	strbuf_addf(out, "<text class=\"%s\" x=\"", class);
	add_number(out, x, 1);
	strbuf_add_str(out, "\" y=\"");
	add_number(out, y, 1);
	strbuf_add_str(out, "\">");
	html_add_text(out, text, 200);
	strbuf_add_str(out, "</text>");
}

/*
 * 12000000 is "12M", and on an axis that ends at 0.000008 that is "8µ": labels have room for six
 * characters.
 */
static void format_tick(char *buf, size_t size, double value, const struct range *range)
{
	static const struct {
		double unit, least; /* relative to the axis' largest value */
		const char *name;
	} units[] = {
		{ 1e12, 0, "T" }, { 1e9, 0, "G" },     { 1e6, 0, "M" },     { 1e3, 0, "k" },
		{ 1, 1e-2, "" },  { 1e-3, 1e-5, "m" }, { 1e-6, 1e-8, "µ" }, { 1e-9, 0, "n" }
	};
	const double step = range->step, most = fmax(fabs(range->low), fabs(range->high));
	struct strbuf text = STRBUF_INIT;
	size_t u = 0;

	while (u < 4 && fmax(fabs(value), step) < 10 * units[u].unit)
		u++;
	while (u >= 4 && u + 1 < sizeof(units) / sizeof(*units) && most < units[u].least)
		u++;
	add_number(&text, fabs(value) / units[u].unit,
		   step / units[u].unit >= 1 ? 0 : (int)ceil(-log10(step / units[u].unit) - 1e-9));
	(void)snprintf(buf, size, "%s%s%s", value < 0 ? "\u2212" : "", text.data ? text.data : "",
		       fabs(value) > 0 ? units[u].name : "");
	strbuf_release(&text);
}

/* The power of ten with @exponent, "100m" for -1. */
static void format_decade(char *buf, size_t size, double exponent)
{
	static const char *const units[] = { "n", "µ", "m", "", "k", "M", "G" };
	double group = fmin(fmax(floor(exponent / 3 + 1e-9), -3), 3);

	(void)snprintf(buf, size, "%.0f%s", pow(10, exponent - 3 * group), units[(int)group + 3]);
}

static void format_value(char *buf, size_t size, double value, const struct range *range,
			 bool decades)
{
	if (decades)
		format_decade(buf, size, value);
	else
		format_tick(buf, size, value, range);
}

static unsigned steps_of(const struct range *range)
{
	return (unsigned)fmin(round((range->high - range->low) / range->step), 100);
}

static void add_axes(struct strbuf *out, const struct chart *chart, const struct plane *plane)
{
	char text[32];

	for (unsigned i = 0; i <= steps_of(&plane->y); i++) {
		double value = plane->y.low + i * plane->y.step;
		double y = at_y(plane, value);

		strbuf_addf(out, "<path class=\"g\" d=\"M%d ", LEFT);
		add_number(out, y, 1);
		strbuf_addf(out, "H%d\"/>", WIDTH - RIGHT);
		format_value(text, sizeof(text), value, &plane->y, chart->decades);
		add_label(out, "ty", LEFT - 7, y + 4, text);
	}
	const double near = (plane->x.high - plane->x.low) / 50; /* a label may be so far outside */
	double first = ceil((plane->x.low - near) / plane->x.step) * plane->x.step;
	unsigned count = (unsigned)fmin((plane->x.high + near - first) / plane->x.step, 100);
	for (unsigned i = 0; i <= count; i++) {
		double value = first + i * plane->x.step;

		format_value(text, sizeof(text), value, &plane->x, chart->decades);
		add_label(out, "tx", at_x(plane, value), HEIGHT - BOTTOM + 17, text);
	}
	strbuf_addf(out, "<path class=\"a\" d=\"M%d %dH%d\"/>", LEFT, HEIGHT - BOTTOM,
		    WIDTH - RIGHT);
	add_label(out, "tx", LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 8, chart->x_label);
	add_label(out, "l", 4, 14, chart->y_label);
}

static bool is_shown(const struct chart_series *series, size_t i)
{
	return isfinite(series->x[i]) && isfinite(series->y[i]) &&
	       (series->form != CHART_BAND || isfinite(series->y2[i]));
}

static void add_path(struct strbuf *out, const struct plane *plane,
		     const struct chart_series *series)
{
	bool drawn = false;

	for (size_t i = 0; i < series->count; i++) {
		bool line = series->form == CHART_LINE && drawn;

		drawn = is_shown(series, i);
		if (!drawn)
			continue;
		strbuf_add_char(out, line ? 'L' : 'M');
		add_coordinates(out, at_x(plane, series->x[i]), at_y(plane, series->y[i]));
		if (series->form == CHART_POINTS)
			strbuf_add_str(out, "h0");
	}
}

static void add_bars(struct strbuf *out, const struct plane *plane,
		     const struct chart_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		if (!is_shown(series, i))
			continue;
		strbuf_add_char(out, 'M');
		add_coordinates(out, at_x(plane, series->x[i]) + 0.5, at_y(plane, 0));
		strbuf_add_char(out, 'V');
		add_number(out, at_y(plane, series->y[i]), 1);
		strbuf_add_char(out, 'H');
		add_number(out, at_x(plane, series->x[i] + series->bar_width) - 0.5, 1);
		strbuf_add_char(out, 'V');
		add_number(out, at_y(plane, 0), 1);
		strbuf_add_char(out, 'z');
	}
}

/* There along the upper edge, back along the lower one. */
static void add_band(struct strbuf *out, const struct plane *plane,
		     const struct chart_series *series)
{
	bool first = true;

	for (size_t n = 0; n < 2 * series->count; n++) {
		size_t i = n < series->count ? n : 2 * series->count - 1 - n;

		if (!is_shown(series, i))
			continue;
		strbuf_add_char(out, first ? 'M' : 'L');
		add_coordinates(out, at_x(plane, series->x[i]),
				at_y(plane, n < series->count ? series->y[i] : series->y2[i]));
		first = false;
	}
	if (!first)
		strbuf_add_char(out, 'z');
}

static void add_series(struct strbuf *out, const struct plane *plane,
		       const struct chart_series *series)
{
	static const char form[] = {
		[CHART_POINTS] = 'p', [CHART_LINE] = 'n', [CHART_BARS] = 'b', [CHART_BAND] = 'd'
	};

	strbuf_addf(out, "<path class=\"%c s%u%s\" d=\"", form[series->form],
		    (unsigned)series->colour, series->is_broad ? " o" : "");
	if (series->form == CHART_BARS)
		add_bars(out, plane, series);
	else if (series->form == CHART_BAND)
		add_band(out, plane, series);
	else
		add_path(out, plane, series);
	strbuf_add_str(out, "\"/>");
}

static void add_lines(struct strbuf *out, const struct chart *chart, const struct plane *plane)
{
	if (chart->diagonal) {
		strbuf_add_str(out, "<path class=\"r\" d=\"M");
		add_coordinates(out, at_x(plane, plane->x.low), at_y(plane, plane->x.low));
		strbuf_add_char(out, 'L');
		add_coordinates(out, at_x(plane, plane->x.high), at_y(plane, plane->x.high));
		strbuf_add_str(out, "\"/>");
	}
	if (chart->zero_line) {
		strbuf_addf(out, "<path class=\"r\" d=\"M%d ", LEFT);
		add_number(out, at_y(plane, 0), 1);
		strbuf_addf(out, "H%d\"/>", WIDTH - RIGHT);
	}
}

/* A single series needs no legend: the axis names it. */
static void add_legend(struct strbuf *out, const struct chart *chart)
{
	double x = WIDTH - RIGHT;

	if (chart->series_count < 2)
		return;
	for (size_t s = chart->series_count; s-- > 0;) {
		x -= 8.5 * (double)strlen(chart->series[s].name) + 24; /* also for larger letters */
		strbuf_addf(out, "<path class=\"k%s%s s%u\" d=\"M",
			    chart->series[s].form == CHART_BAND ? " w" : "",
			    chart->series[s].is_broad ? " o" : "",
			    (unsigned)chart->series[s].colour);
		add_coordinates(out, x, 10);
		strbuf_add_str(out, "h12\"/>");
		add_label(out, "l", x + 16, 14, chart->series[s].name);
	}
}

static void begin(struct strbuf *out, const char *title, unsigned height)
{
	strbuf_addf(out, "<svg role=\"img\" viewBox=\"0 0 %d %u\"><title>", WIDTH, height);
	html_add_text(out, title, 200);
	strbuf_add_str(out, "</title>");
}

void chart_add(struct strbuf *out, const struct chart *chart)
{
	struct plane plane;

	measure(chart, &plane);
	begin(out, chart->title, HEIGHT);
	add_axes(out, chart, &plane);
	for (size_t s = chart->series_count; s-- > 0;)
		add_series(out, &plane, &chart->series[s]);
	add_lines(out, chart, &plane);
	add_legend(out, chart);
	strbuf_add_str(out, "</svg>\n");
}

void chart_add_amounts(struct strbuf *out, const char *title, const char *unit,
		       const struct chart_amount *amounts, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, amounts[i].value);
	begin(out, title, (unsigned)count * AMOUNT_HEIGHT + 6);
	for (size_t i = 0; i < count; i++) {
		double y = (double)i * AMOUNT_HEIGHT + 4;
		double width = most > 0 ? amounts[i].value / most * (WIDTH - AMOUNT_LEFT - 80) : 0;
		struct strbuf text = STRBUF_INIT;

		add_label(out, "ty", AMOUNT_LEFT - 8, y + 12, amounts[i].name);
		strbuf_addf(out, "<path class=\"b s0\" d=\"M%d ", AMOUNT_LEFT);
		add_number(out, y, 1);
		strbuf_add_char(out, 'h');
		add_number(out, width, 1);
		strbuf_addf(out, "v%dh-", AMOUNT_HEIGHT - 7);
		add_number(out, width, 1);
		strbuf_add_str(out, "z\"/>");
		add_number(&text, amounts[i].value, 2);
		strbuf_addf(&text, " %s", unit);
		add_label(out, "l", AMOUNT_LEFT + width + 6, y + 12, text.data ? text.data : "");
		strbuf_release(&text);
	}
	strbuf_add_str(out, "</svg>\n");
}
