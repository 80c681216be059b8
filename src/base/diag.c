// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"

int diag_set(struct diag *diag, int err, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return err;
	va_start(ap, fmt);
	(void)vsnprintf(diag->text, sizeof(diag->text), fmt, ap);
	va_end(ap);
	return err;
}

int diag_add(struct diag *diag, int err, const char *fmt, ...)
{
	char text[DIAG_TEXT_MAX];
	va_list ap;

	if (!diag)
		return err;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!diag->text[0]) {
		memcpy(diag->text, text, sizeof(text));
		return err;
	}
	diag->others++;
	if (diag->more && diag->others <= DIAG_MORE_MAX) {
		strbuf_add_str(diag->more, text);
		strbuf_add_char(diag->more, '\n');
	}
	return err;
}

void diag_join(const struct diag *diag, const char *between, struct strbuf *out)
{
	const char *line = diag->more && diag->more->data ? diag->more->data : "";
	unsigned listed = 0;

	strbuf_add_str(out, diag->text);
	while (*line) {
		size_t len = strcspn(line, "\n");

		strbuf_add_str(out, between);
		strbuf_add(out, line, len);
		line += len + (line[len] == '\n');
		listed++;
	}
	if (diag->others > listed)
		strbuf_addf(out, "%sand %u more", between, diag->others - listed);
}

void diag_print(const struct diag *diag, const char *program, FILE *out)
{
	CLEANUP(strbuf_release) struct strbuf between = STRBUF_INIT, text = STRBUF_INIT;

	strbuf_addf(&between, "\n%s: ", program);
	diag_join(diag, between.data ? between.data : "\n", &text);
	(void)fprintf(out, "%s: %s\n", program, text.data ? text.data : diag->text);
}
