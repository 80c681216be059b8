// SPDX-License-Identifier: Apache-2.0
#include "doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/utf8.h"
#include "base/wrap.h"

#define TEXT_INDENT 8  /* behind the mark */
#define FIX_INDENT  10 /* behind the arrow */

static const char *const level_names[] = { "show", "ok", "note", "fix", "fail" };
static const char *const level_marks[] = { "", "ok  ", "note", "FIX ", "FAIL" };
static const char *const level_colours[] = { "", "\033[32m", "\033[36m", "\033[33m", "\033[31m" };

/* Texts repeat names and lines that others wrote, and a terminal would obey some of their bytes. */
static void make_printable(char *text)
{
	size_t left = strlen(text), n;

	for (; left; text += n, left -= n) {
		unsigned char c = (unsigned char)*text;

		n = utf8_char_len(text, left);
		if (n == 0 || (c < ' ' && c != '\n') || c == 0x7f) {
			*text = '?';
			n = 1;
		} else if (n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0) {
			text[0] = text[1] = '?'; /* C1 controls */
		}
	}
}

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
	make_printable(finding->text);
	make_printable(finding->fix);
}

int findings_exit_status(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->list[i].level >= FINDING_FIX)
			return 1;
	}
	return 0;
}

/* A person can do something about it. */
static bool is_open(const struct finding *finding)
{
	return finding->level >= FINDING_FIX || finding->fix[0];
}

static void add_verdict(const struct findings *findings, const struct findings_view *view,
			struct strbuf *out)
{
	size_t fixes = 0, choices = 0, failures = 0;

	for (size_t i = 0; i < findings->count; i++) {
		failures += findings->list[i].level == FINDING_FAIL;
		fixes += findings->list[i].level == FINDING_FIX;
		choices += is_open(&findings->list[i]);
	}
	strbuf_add_str(out, view->colour ? "\033[1m" : "");
	if (failures)
		strbuf_add_str(out, "Kepler cannot work here.");
	else if (fixes)
		strbuf_addf(out,
			    "Kepler works; %zu thing%s can be improved: each FIX names one, and → "
			    "shows how.",
			    fixes, fixes == 1 ? "" : "s");
	else if (choices)
		strbuf_add_str(out, "Nothing needs to be fixed; each → is a choice.");
	else
		strbuf_add_str(out, "Everything this machine offers is in use.");
	strbuf_addf(out, "%s\n", view->colour ? "\033[0m" : "");
}

static void add_finding(const struct finding *finding, const struct findings_view *view,
			struct strbuf *out)
{
	if (finding->level == FINDING_SHOW) {
		strbuf_addf(out, "  %s\n", finding->text);
		return;
	}
	strbuf_addf(out, "  %s%s%s  ", view->colour ? level_colours[finding->level] : "",
		    level_marks[finding->level], view->colour ? "\033[0m" : "");
	wrap_text(out, finding->text, TEXT_INDENT, TEXT_INDENT, view->width);
	strbuf_add_char(out, '\n');
	if (!finding->fix[0])
		return;
	strbuf_addf(out, "%*s→ ", TEXT_INDENT, "");
	wrap_text(out, finding->fix, FIX_INDENT, FIX_INDENT, view->width);
	strbuf_add_char(out, '\n');
}

/* Those that are @open, below their topics. */
static void add_findings(const struct findings *findings, const struct findings_view *view,
			 bool open, struct strbuf *out)
{
	const char *topic = "";

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		if (is_open(finding) != open)
			continue;
		if (strcmp(finding->topic, topic) != 0)
			strbuf_addf(out, "\n%s%s%s\n", view->colour ? "\033[1m" : "",
				    finding->topic, view->colour ? "\033[0m" : "");
		topic = finding->topic;
		add_finding(finding, view, out);
	}
}

void findings_print(const struct findings *findings, const struct findings_view *view,
		    struct strbuf *out)
{
	size_t rest = 0;

	add_verdict(findings, view, out);
	if (findings->headline[0]) {
		wrap_text(out, findings->headline, 0, 0, view->width);
		strbuf_add_char(out, '\n');
	}
	add_findings(findings, view, true, out);
	if (view->verbose) {
		add_findings(findings, view, false, out);
		return;
	}
	for (size_t i = 0; i < findings->count; i++)
		rest += !is_open(&findings->list[i]) && findings->list[i].level != FINDING_SHOW;
	if (rest)
		strbuf_addf(out,
			    "\n%zu further finding%s about this machine: kepler doctor "
			    "--verbose\n",
			    rest, rest == 1 ? "" : "s");
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
