/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart as an SVG element that stands in a page of HTML: points, a line or bars over two linear
 * axes. Pure: numbers in, text out. Colours are the page's (page_style), so that a chart follows
 * a light or dark theme. Series differ in form, too, for readers that see no colours.
 *
 * Numbers that are not finite are left out. Points of one series are one path, so that thousands of
 * them are small.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum chart_form {
	CHART_POINTS,
	CHART_LINE, /* in the order of the values; one that is not finite interrupts it */
	CHART_BARS, /* from 0; x is the left edge, the next x the right one */
	CHART_BAND, /* between y and y2 */
};

/* Colours; each has the same meaning in all pictures. */
enum chart_colour { CHART_PREDICTED, CHART_MEASURED };

struct chart_series {
	const char *name;
	enum chart_form form;
	enum chart_colour colour;
	const double *x;
	const double *y;
	const double *y2; /* of a band */
	size_t count;
	double bar_width; /* of bars, in x's unit */
	bool is_broad;    /* a broad, pale line: one that is drawn over it is seen within it */
};

struct chart {
	const char *title; /* its description, for screen readers */
	const char *x_label;
	const char *y_label;
	const struct chart_series *series; /* the first one is drawn over the others */
	size_t series_count;
	bool diagonal;  /* both axes alike, and the line y = x */
	bool zero_line; /* a line at y = 0 */
	bool from_zero; /* both axes begin at 0 if no value is negative */
	bool x_as_is;   /* the horizontal axis has the range of the values, not whole steps */
	bool x_whole;   /* its labels are whole numbers */
	bool decades;   /* values are decimal logarithms: axes have powers of ten */
};

void chart_add(struct strbuf *out, const struct chart *chart);

/* Named amounts as horizontal bars, in the order given. */
struct chart_amount {
	const char *name;
	double value; /* >= 0 */
};

void chart_add_amounts(struct strbuf *out, const char *title, const char *unit,
		       const struct chart_amount *amounts, size_t count);

/* Steps of an axis from @low to @high with about @wanted steps: 1, 2 or 5 times a power of ten. */
double chart_step(double low, double high, unsigned wanted);
