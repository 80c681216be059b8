// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/text/html.h"

#define NO_BREAK "\u00a0"
#define MINUS    "\u2212"
#define DIGITS   5

/* U+2212 instead of the hyphen of printf(). */
static void add_sign(struct strbuf *out, double value, bool is_signed)
{
	if (value < 0)
		strbuf_add_str(out, MINUS);
	else if (is_signed)
		strbuf_add_char(out, '+');
}

void report_text_percent(struct strbuf *out, double ratio, bool is_signed)
{
	if (isnan(ratio)) {
		strbuf_add_str(out, "–");
		return;
	}
	bool is_huge = fabs(ratio) >= 10;
	if (is_huge)
		strbuf_add_str(out, ratio > 0 ? "over" NO_BREAK : "below" NO_BREAK);
	if (fabs(ratio) >= 0.0005) /* what is shown is not 0 */
		add_sign(out, ratio, is_signed);
	if (is_huge)
		strbuf_add_str(out, "1,000" NO_BREAK "%");
	else
		strbuf_addf(out, "%.1f" NO_BREAK "%%", 100 * fabs(ratio));
}

void report_text_bound(struct strbuf *out, double ratio)
{
	if (isfinite(ratio))
		strbuf_addf(out, "%g" NO_BREAK "%%", 100 * ratio);
	else
		strbuf_add_str(out, "–");
}

int report_text_places(double largest)
{
	if (!isfinite(largest) || fabs(largest) < 1)
		return DIGITS - 1;
	return (int)fmax(0, DIGITS - 1 - floor(log10(fabs(largest))));
}

void report_text_number(struct strbuf *out, double value, int places)
{
	if (!isfinite(value)) {
		strbuf_add_str(out, "–");
		return;
	}
	add_sign(out, value, false);
	strbuf_addf(out, "%.*f", places, fabs(value));
}

/* "12 %", "12 W", "12 s", but not "12 windows". */
static bool is_before_unit(const char *space, const char *start)
{
	const char *unit = space + 1;

	if (space == start || !isdigit((unsigned char)space[-1]))
		return false;
	return *unit == '%' || (*unit && strchr("WJs", *unit) && !isalnum((unsigned char)unit[1]));
}

static bool is_minus(const char *hyphen, const char *start)
{
	return isdigit((unsigned char)hyphen[1]) &&
	       (hyphen == start || hyphen[-1] == ' ' || hyphen[-1] == '(');
}

void report_text_sentence(struct strbuf *out, const char *text)
{
	struct strbuf better = STRBUF_INIT;

	for (const char *c = text; *c; c++) {
		if (*c == ' ' && is_before_unit(c, text))
			strbuf_add_str(&better, NO_BREAK);
		else if (*c == '-' && is_minus(c, text))
			strbuf_add_str(&better, MINUS);
		else
			strbuf_add_char(&better, *c);
	}
	html_add_text(out, better.data ? better.data : "", better.len);
	strbuf_release(&better);
}
