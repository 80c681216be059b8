// SPDX-License-Identifier: Apache-2.0
/*
 * The hot path: thousands of rows a family. A line is four pieces copied side by side (name, the
 * row's labels, the end of the labels, the value); room is asked for once a row, and nothing is
 * formatted but the digits of the value.
 */
#include <string.h>

#include "base/num.h"
#include "export/render.h"

static char *put(char *at, const char *piece, size_t len)
{
	memcpy(at, piece, len);
	return at + len;
}

struct piece {
	const char *text;
	size_t len;
};

static struct piece piece_of(const char *text)
{
	return (struct piece){ text, strlen(text) };
}

static uint64_t row_amount(const struct row_lines *lines, uint32_t row)
{
	const struct row_view *view = lines->view;
	uint64_t span_ns = lines->watts_span_ns;
	uint64_t amount =
		row_view_value(view, span_ns ? view->deltas : view->values, row, lines->column);

	/* µJ in ns are kW: × 1e9 makes µW. */
	return span_ns ? muldiv_u64(amount, NSEC_PER_SEC, span_ns) : amount;
}

static char *put_line(char *at, struct piece name, const struct row_text *labels, struct piece end)
{
	at = put(at, name.text, name.len);
	*at++ = '{';
	at = put(at, labels->text, labels->len);
	at = put(at, end.text, end.len);
	*at++ = '}';
	*at++ = ' ';
	return at;
}

#define PUNCTUATION 4 /* braces, blank, newline */

void row_lines_write(struct render *render, const struct row_lines *lines)
{
	const struct row_view *view = lines->view;
	const struct row_text *texts = view->texts[lines->names];
	bool created = render->w.created && render->w.metric->type == METRIC_COUNTER;
	char name[FAMILY_NAME_MAX + 8], created_name[FAMILY_NAME_MAX + 16];
	size_t family_len = strlen(render->w.family);
	struct piece sample = { name, 0 }, birth = { created_name, family_len + 8 };
	struct piece ends[2] = { piece_of(lines->end),
				 piece_of(lines->end_ended ? lines->end_ended : lines->end) };
	struct strbuf *out = render->w.out;

	if (view->count == 0)
		return;
	family_head(&render->w);
	sample.len = (size_t)(put(put(name, render->w.family, family_len),
				  family_suffix(render->w.metric),
				  strlen(family_suffix(render->w.metric))) -
			      name);
	(void)put(put(created_name, render->w.family, family_len), "_created", 8);
	for (uint32_t row = 0; row < view->count; row++) {
		struct piece end = ends[view->rows[row].ended];
		char *at;

		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		if (!strbuf_reserve(out, 2 * (birth.len + texts[row].len + end.len + PUNCTUATION +
					      FORMAT_SCALED_MAX)))
			return;
		at = put_line(out->data + out->len, sample, &texts[row], end);
		at += format_scaled(at, row_amount(lines, row), lines->decimals);
		*at++ = '\n';
		if (created) {
			at = put_line(at, birth, &texts[row], end);
			at += format_created(at, view->rows[row].created_ms);
			*at++ = '\n';
		}
		out->len = (size_t)(at - out->data);
	}
	out->data[out->len] = '\0';
}
