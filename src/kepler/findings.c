// SPDX-License-Identifier: Apache-2.0
#include "kepler/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/wrap.h"

#define TEXT_INDENT 8  /* behind the mark */
#define FIX_INDENT  10 /* behind the arrow */

static const char *const level_names[] = { "show", "ok", "note", "fix", "fail" };
static const char *const level_marks[] = { "", "ok  ", "note", "FIX ", "FAIL" };
static const char *const level_colours[] = { "", "\033[32m", "\033[36m", "\033[33m", "\033[31m" };

void findings_add(struct findings *findings, enum finding_level level, const char *topic,
		  const char *fix, const char *fmt, ...)
{
	struct finding *finding;
	va_list ap;

	if (findings->count == FINDINGS_MAX)
		return;
	finding = &findings->list[findings->count++];
	finding->level = level;
	finding->topic = topic;
	(void)snprintf(finding->fix, sizeof(finding->fix), "%s", fix ? fix : "");
	va_start(ap, fmt);
	(void)vsnprintf(finding->text, sizeof(finding->text), fmt, ap);
	va_end(ap);
}

int findings_exit_status(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->list[i].level >= FINDING_FIX)
			return 1;
	}
	return 0;
}

static bool has_choice(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->list[i].fix[0])
			return true;
	}
	return false;
}

static const char *conclusion(const struct findings *findings)
{
	if (findings_exit_status(findings))
		return "Some of the above can be improved: each FIX says what, and → how.";
	return has_choice(findings) ? "Nothing has to be fixed; each → is a choice."
				    : "Everything this machine offers is in use.";
}

void findings_print(const struct findings *findings, bool colour, size_t width, struct strbuf *out)
{
	const char *topic = "";

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		if (strcmp(finding->topic, topic) != 0)
			strbuf_addf(out, "%s%s%s%s\n", i ? "\n" : "", colour ? "\033[1m" : "",
				    finding->topic, colour ? "\033[0m" : "");
		topic = finding->topic;
		if (finding->level == FINDING_SHOW) {
			strbuf_addf(out, "  %s\n", finding->text);
			continue;
		}
		strbuf_addf(out, "  %s%s%s  ", colour ? level_colours[finding->level] : "",
			    level_marks[finding->level], colour ? "\033[0m" : "");
		wrap_text(out, finding->text, TEXT_INDENT, TEXT_INDENT, width);
		strbuf_add_char(out, '\n');
		if (!finding->fix[0])
			continue;
		strbuf_addf(out, "%*s→ ", TEXT_INDENT, "");
		wrap_text(out, finding->fix, FIX_INDENT, FIX_INDENT, width);
		strbuf_add_char(out, '\n');
	}
	strbuf_addf(out, "\n%s\n", conclusion(findings));
}

static void add_field(struct strbuf *out, const char *name, const char *value)
{
	strbuf_addf(out, "\"%s\":\"", name);
	strbuf_add_json(out, value);
	strbuf_add_char(out, '"');
}

void findings_print_json(const struct findings *findings, struct strbuf *out)
{
	strbuf_addf(out, "{\"healthy\":%s,\"findings\":[",
		    findings_exit_status(findings) ? "false" : "true");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		strbuf_add_str(out, i ? ",\n{" : "\n{");
		add_field(out, "topic", finding->topic);
		strbuf_add_char(out, ',');
		add_field(out, "level", level_names[finding->level]);
		strbuf_add_char(out, ',');
		add_field(out, "text", finding->text);
		strbuf_add_char(out, ',');
		add_field(out, "fix", finding->fix);
		strbuf_add_char(out, '}');
	}
	strbuf_add_str(out, "\n]}\n");
}
