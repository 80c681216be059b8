// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/noise_page.h"

#include <math.h>
#include <stdio.h>

#include "base/macro.h"
#include "base/text/html.h"
#include "chart/chart.h"
#include "chart/page_style.h"
#include "verdict-report/verdict_report.h"

#define COURSE_POINTS 400

static const char own_style[] =
	"h3{font-size:1.15rem;margin:2rem 0 .2rem}h4{font-size:1rem;margin:0 0 .3rem}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.4rem}"
	"dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
	"@media print{:root{--ink:#000;--soft:#444;--rule:#bbb;--page:#fff;--s0:#1f6fb4;"
	"--s1:#d9661f}body{max-width:none;margin:0}figure,tr{break-inside:avoid}"
	".charts{grid-template-columns:1fr 1fr}}";

static void add_figure(struct strbuf *out, const char *title, const struct chart *chart)
{
	strbuf_add_str(out, "<figure><h4>");
	html_add_text(out, title, 200);
	strbuf_add_str(out, "</h4>");
	chart_add(out, chart);
	strbuf_add_str(out, "</figure>\n");
}

/* The Allan deviations of all phases; both axes are logarithmic. */
static void add_allan(struct strbuf *out, const struct noise_meter *meter)
{
	double x[NOISE_PHASES][NOISE_ALLAN_MAX], y[NOISE_PHASES][NOISE_ALLAN_MAX];
	struct chart_series series[NOISE_PHASES];
	size_t count = 0;

	for (int phase = NOISE_PHASES - 1; phase >= 0; phase--) {
		const struct noise *noise = &meter->phases[phase];

		if (!meter->has[phase])
			continue;
		for (size_t i = 0; i < noise->allan_count; i++) {
			x[phase][i] = log10(noise->allan_window_s[i]);
			y[phase][i] = log10(noise->allan_w[i]); /* not finite for 0 */
		}
		series[count] = (struct chart_series){
			.name = noise_phase_name((enum noise_phase)phase),
			.form = CHART_LINE,
			.colour = phase == NOISE_IDLE ? CHART_MEASURED : CHART_PREDICTED,
			.x = x[phase],
			.y = y[phase],
			.count = noise->allan_count,
		};
		count++;
	}
	const struct chart chart = {
		.title = "Allan deviation of power by window length",
		.x_label = "window, s",
		.y_label = "Allan deviation, W",
		.series = series,
		.series_count = count,
		.decades = true,
	};
	add_figure(out, "Allan deviation by window length", &chart);
}

static void add_course(struct strbuf *out, const struct series *course, enum noise_phase phase)
{
	double x[COURSE_POINTS], y[COURSE_POINTS];
	double start_s = series_start_s(course), length_s = series_end_s(course) - start_s;
	double step_s = fmax(series_step_s(course), length_s / COURSE_POINTS);
	size_t count = (size_t)fmin(COURSE_POINTS, floor(length_s / step_s + 1e-9));
	char title[64];

	for (size_t i = 0; i < count; i++) {
		double from_s = start_s + (double)i * step_s;
		struct amount amount = series_amount(course, from_s, from_s + step_s);

		x[i] = from_s + step_s / 2 - start_s;
		y[i] = amount.covered_s > step_s / 2 ? amount.amount / amount.covered_s
						     : (double)NAN;
	}
	const struct chart_series series = {
		.name = "power",
		.form = CHART_LINE,
		.colour = phase == NOISE_IDLE ? CHART_MEASURED : CHART_PREDICTED,
		.x = x,
		.y = y,
		.count = count,
	};
	const struct chart chart = {
		.title = "Power over time",
		.x_label = "time, s",
		.y_label = "W",
		.series = &series,
		.series_count = 1,
	};
	(void)snprintf(title, sizeof(title), "Power over time, %s, windows of %.0f ms",
		       noise_phase_name(phase), 1e3 * step_s);
	add_figure(out, title, &chart);
}

static void add_cell(struct strbuf *out, double value)
{
	if (isfinite(value))
		strbuf_addf(out, "<td class=\"n\">%.4g</td>", value);
	else
		strbuf_add_str(out, "<td class=\"n\">–</td>");
}

static void add_phase(struct strbuf *out, const struct noise *noise, enum noise_phase phase)
{
	char text[512];

	noise_summary(noise, text, sizeof(text));
	strbuf_addf(out, "<h4>%s: %.4g W</h4><p>", phase == NOISE_IDLE ? "Idle" : "Load",
		    noise->power_w);
	html_add_text(out, text, sizeof(text));
	strbuf_add_str(out, "</p>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">window"
			    "</th><th class=\"n\">count</th><th class=\"n\">SD, W</th>"
			    "<th class=\"n\">min</th><th class=\"n\">5 %</th><th class=\"n\">median"
			    "</th><th class=\"n\">95 %</th><th class=\"n\">max</th>"
			    "<th class=\"n\">Allan deviation, W</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < NOISE_WINDOWS; i++) {
		const struct noise_spread *spread = &noise->windows[i];
		const double cells[] = { spread->sd_w,     spread->min_w,  spread->low_w,
					 spread->median_w, spread->high_w, spread->max_w,
					 spread->allan_w };

		strbuf_addf(out, "<tr><td class=\"n\">%g ms</td><td class=\"n\">%zu</td>",
			    1e3 * spread->window_s, spread->count);
		for (size_t c = 0; c < ARRAY_SIZE(cells); c++)
			add_cell(out, cells[c]);
		strbuf_add_str(out, "</tr>\n");
	}
	strbuf_add_str(out, "</tbody></table></div>\n");
}

static void add_meter(struct strbuf *out, const struct noise_meter *meter)
{
	strbuf_add_str(out, "<section><h3>");
	html_add_text(out, meter->name, sizeof(meter->name));
	strbuf_add_str(out, "</h3>\n");
	for (int phase = 0; phase < NOISE_PHASES; phase++)
		if (meter->has[phase])
			add_phase(out, &meter->phases[phase], (enum noise_phase)phase);
	strbuf_add_str(out, "<div class=\"charts\">\n");
	add_allan(out, meter);
	for (int phase = 0; phase < NOISE_PHASES; phase++)
		if (meter->course[phase] && meter->course[phase]->count > 1)
			add_course(out, meter->course[phase], (enum noise_phase)phase);
	strbuf_add_str(out, "</div></section>\n");
}

static void add_fact(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, "<dt>");
	html_add_text(out, name, 200);
	strbuf_add_str(out, "</dt><dd>");
	html_add_text(out, value, 2000);
	strbuf_add_str(out, "</dd>\n");
}

void noise_html_add(struct strbuf *out, const struct noise_report *report)
{
	char created[32];

	report_time_text((double)report->created, created);
	strbuf_add_str(out,
		       "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		       "<meta name=\"color-scheme\" content=\"light dark\"><style>");
	strbuf_add_str(out, page_style);
	strbuf_add_str(out, own_style);
	strbuf_addf(out,
		    "</style><title>Noise of the energy counters</title></head><body><main>\n"
		    "<h1>Noise of the energy counters</h1>\n<p class=\"note\">kepler-validator %s, "
		    "%s</p>\n<p>",
		    report->version, created);
	html_add_text(out, report->filter, 1000);
	strbuf_add_str(out, "</p>\n<p><strong>");
	html_add_text(out, report->stalled, 1000);
	strbuf_add_str(out, "</strong></p>\n");
	for (size_t i = 0; i < report->count; i++)
		add_meter(out, &report->meters[i]);
	strbuf_add_str(out, "<h2>Machine and command</h2>\n<dl>\n");
	for (size_t i = 0; report->machine && i < report->machine->count; i++)
		add_fact(out, report->machine->items[i].name, report->machine->items[i].value);
	add_fact(out, "command", report->command);
	strbuf_add_str(out, "</dl>\n</main></body></html>\n");
}
