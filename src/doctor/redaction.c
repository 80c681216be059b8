// SPDX-License-Identifier: Apache-2.0
/*
 * Two passes over a text: the first replaces what was added, wherever it stands; the second takes
 * the result word by word, and a table of forms says what kind of name a word is, if any. It knows
 * no name of the program but through is_ours(), and errs on the side of replacing.
 */
#include "doctor/redaction.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/text/ascii.h"

#define SHORT_MAX 3 /* characters of a name that is replaced only where it is a word */
#define HEX_RUN   12
#define TOKEN_RUN 24

struct known {
	enum redaction_kind kind;
	char *text;
	size_t len;
	const char *shown; /* of a root; NULL: by a pseudonym */
};

struct original {
	enum redaction_kind kind;
	char *text;
	unsigned number;
};

struct redaction {
	bool (*is_ours)(const char *word);
	struct known known[REDACTION_ORIGINALS_MAX]; /* the longest first */
	size_t known_count;
	struct original originals[REDACTION_ORIGINALS_MAX];
	size_t original_count;
	unsigned numbers[REDACTION_KIND_COUNT];
	bool failed;
};

/* A word of a text, without the punctuation that follows it. */
struct word {
	char text[REDACTION_TEXT_MAX];
	size_t len;
	const char *before; /* the word before, or "" */
	const char *after;  /* the text that follows it */
	bool (*is_ours)(const char *word);
};

static const char *const kind_names[] = {
	[REDACTED_HOST] = "host",       [REDACTED_USER] = "user", [REDACTED_URL] = "url",
	[REDACTED_ADDRESS] = "address", [REDACTED_PATH] = "path", [REDACTED_NAME] = "name",
	[REDACTED_ID] = "id",
};

struct redaction *redaction_new(bool (*is_ours)(const char *word))
{
	struct redaction *redaction = calloc(1, sizeof(*redaction));

	if (redaction)
		redaction->is_ours = is_ours;
	return redaction;
}

void redaction_free(struct redaction *redaction)
{
	if (!redaction)
		return;
	for (size_t i = 0; i < redaction->known_count; i++)
		free(redaction->known[i].text);
	for (size_t i = 0; i < redaction->original_count; i++)
		free(redaction->originals[i].text);
	free(redaction);
}

static bool is_in(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (strcasecmp(word, *list) == 0)
			return true;
	}
	return false;
}

/* ---- names that were added ---- */

static void add(struct redaction *redaction, struct known known)
{
	size_t at = redaction->known_count;

	if (at == REDACTION_ORIGINALS_MAX || !known.text) {
		redaction->failed = true;
		free(known.text);
		return;
	}
	known.len = strlen(known.text);
	for (; at && redaction->known[at - 1].len < known.len; at--)
		redaction->known[at] = redaction->known[at - 1];
	redaction->known[at] = known;
	redaction->known_count++;
}

void redaction_add(struct redaction *redaction, enum redaction_kind kind, const char *text)
{
	static const char *const common[] = { "localhost", "kepler", "root",   "linux",   "unknown",
					      "node",      "system", "kernel", "package", "core",
					      "uncore",    "dram",   "psys",   "gpu",     "other",
					      "platform",  "auto",   "power",  NULL };

	if (!text[0] || is_in(text, common))
		return;
	for (size_t i = 0; i < redaction->known_count; i++) {
		if (strcmp(redaction->known[i].text, text) == 0)
			return;
	}
	add(redaction, (struct known){ .kind = kind, .text = strdup(text) });
}

void redaction_add_root(struct redaction *redaction, const char *prefix, const char *shown)
{
	size_t len = strlen(prefix);

	while (len > 1 && prefix[len - 1] == '/')
		len--;
	if (len > 1)
		add(redaction, (struct known){ .text = strndup(prefix, len), .shown = shown });
}

static bool is_word_char(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/*
 * True if @known stands at @text + @at. A short name, such as "vm", and a user's, such as "work",
 * can be a part of any word: it has to be one itself, and a short one in these very letters.
 */
static bool stands(const struct known *known, const char *text, size_t at)
{
	bool is_short = known->len <= SHORT_MAX;
	const char *next = text + at + known->len;

	if (strncasecmp(text + at, known->text, known->len) != 0 ||
	    (is_short && strncmp(text + at, known->text, known->len) != 0))
		return false;
	if (known->shown)
		return *next == '/' || !is_word_char(*next);
	if (!is_short && known->kind != REDACTED_USER)
		return true;
	while (*next == '.' || *next == '-') /* the end of a sentence */
		next++;
	return !(at && is_word_char(text[at - 1])) && !is_word_char(*next);
}

static void add_pseudonym(struct redaction *redaction, enum redaction_kind kind, const char *text,
			  struct strbuf *out)
{
	struct original *original = redaction->originals;
	struct original *end = original + redaction->original_count;

	while (original < end && (original->kind != kind || strcasecmp(original->text, text) != 0))
		original++;
	if (original == end && redaction->original_count == REDACTION_ORIGINALS_MAX) {
		strbuf_addf(out, "%s-more", kind_names[kind]);
		return;
	}
	if (original == end) {
		*original = (struct original){ kind, strdup(text), ++redaction->numbers[kind] };
		redaction->failed |= !original->text;
		redaction->original_count += original->text != NULL;
	}
	strbuf_addf(out, "%s-%u", kind_names[kind], original->number);
}

static void replace_known(struct redaction *redaction, const char *text, struct strbuf *out)
{
	size_t at = 0;

	while (text[at]) {
		const struct known *known = redaction->known;
		const struct known *end = known + redaction->known_count;

		while (known < end && !stands(known, text, at))
			known++;
		if (known == end) {
			strbuf_add_char(out, text[at++]);
			continue;
		}
		if (known->shown)
			strbuf_add_str(out, known->shown);
		else
			add_pseudonym(redaction, known->kind, known->text, out);
		at += known->len;
	}
}

/* ---- words with the form of a name ---- */

static bool is_url(const struct word *word)
{
	return strstr(word->text, "://") != NULL;
}

/* People name nothing below these. */
static bool is_path(const struct word *word)
{
	static const char *const fixed[] = { "/sys/class/", "/sys/devices/",  "/sys/bus/",
					     "/sys/cray/",  "/sys/firmware/", "/dev/" };
	static const char *const whole[] = { "/",
					     "/sys",
					     "/sys/fs/cgroup",
					     "/proc",
					     "/run/docker.sock",
					     "/etc/kepler/kepler.yaml",
					     "/var/lib/kepler",
					     "/var/lib/kubelet/pod-resources",
					     NULL };

	if (word->text[0] != '/' || is_in(word->text, whole))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (strncmp(word->text, fixed[i], strlen(fixed[i])) == 0)
			return false;
	}
	return true;
}

static bool is_account(const struct word *word)
{
	const char *at = strchr(word->text, '@');

	return at && at > word->text && at[1];
}

static bool has_only(const char *text, const char *allowed)
{
	return text[strspn(text, allowed)] == '\0';
}

static size_t count_of(const char *text, char c)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == c;
	return count;
}

/* "10.0.0.7:443", but neither 127.0.0.1 nor 0.0.0.0 nor a version of three numbers. */
static bool is_ipv4(const struct word *word)
{
	return has_only(word->text, "0123456789.:/") && count_of(word->text, '.') == 3 &&
	       strncmp(word->text, "127.", 4) != 0 && strncmp(word->text, "0.0.0.0", 7) != 0;
}

/* IPv6 and hardware addresses, but neither "::", "::1", a time of day nor the address of PCI. */
static bool is_colon_address(const struct word *word)
{
	size_t colons = count_of(word->text, ':');
	const char *point = strrchr(word->text, '.');

	if (colons < 2 || !has_only(word->text, "0123456789abcdefABCDEF:.%/"))
		return false;
	if (strcmp(word->text, "::") == 0 || strcmp(word->text, "::1") == 0)
		return false;
	if (colons == 2 && point && strlen(point) == 2) /* 0000:03:00.0 */
		return false;
	return colons != 2 || strstr(word->text, "::") || word->len > 8; /* 08:15:00 */
}

/* "6.1.0-18-amd64", "2.40GHz": what begins with a number, a point and a digit. */
static bool is_version(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && text[digits] == '.' && ascii_is_digit(text[digits + 1]);
}

/* "node7.example.com:9100", but no number, no option, and nothing that the kernel says. */
static bool is_dotted_name(const struct word *word)
{
	static const char *const others[] = { "kernel.perf_event_paranoid", "*.svc",
					      "*.cluster.local", "kepler.service", NULL };
	const char *text = word->text, *last;
	size_t len;

	while (*text == '-')
		text++;
	last = strrchr(text, '.');
	len = last ? strcspn(last + 1, ":/") : 0;
	if (len < 2 || last == text || ascii_is_digit(last[1]) || is_version(text))
		return false;
	if (is_in(text, others) || strncmp(text, "docs/", 5) == 0 ||
	    (strncmp(text, "lib", 3) == 0 && strstr(text, ".so")))
		return false;
	return !word->is_ours(strncmp(text, "no-", 3) == 0 ? text + 3 : text);
}

/* NAMESPACE/NAME and relative paths, but no page of the documentation, no date and no protocol. */
static bool is_slashed_name(const struct word *word)
{
	const char *slash = strchr(word->text, '/');

	if (!slash || slash == word->text || !slash[1])
		return false;
	return strncmp(word->text, "docs/", 5) != 0 && strncmp(word->text, "HTTP/", 5) != 0 &&
	       !has_only(word->text, "0123456789/.");
}

/* Ids of containers, UUIDs and tokens: long runs that neither a word nor a number has. */
static bool is_id(const struct word *word)
{
	size_t hex = 0, hex_letters = 0, run = 0, digits = 0, letters = 0;

	for (const char *c = word->text; *c; c++) {
		bool is_digit = ascii_is_digit(*c), is_letter = ascii_is_alnum(*c) && !is_digit;
		bool is_hex = ascii_hex_value(*c) >= 0, joins = *c == '-' || *c == '_';

		run = is_digit || is_letter || joins ? run + 1 : 0;
		digits = run ? digits + is_digit : 0;
		letters = run ? letters + is_letter : 0;
		hex = is_hex || *c == '-' ? hex + is_hex : 0;
		hex_letters = hex ? hex_letters + (is_hex && is_letter) : 0;
		if ((hex >= HEX_RUN && hex_letters && hex_letters < hex) ||
		    (run >= TOKEN_RUN && digits > 2 && letters > 2))
			return true;
	}
	return false;
}

/*
 * Messages of libraries about a machine: "Could not resolve host: bmc7", "connect to bmc7 port
 * 443".
 */
static bool is_told_as_a_name(const struct word *word)
{
	static const char *const leads[] = { "host:", "proxy:", NULL };
	static const char port[] = " port ";

	return word->text[0] &&
	       (is_in(word->before, leads) || strncmp(word->after, port, sizeof(port) - 1) == 0);
}

static const struct {
	bool (*is)(const struct word *word);
	enum redaction_kind kind;
} forms[] = {
	{ is_url, REDACTED_URL },
	{ is_path, REDACTED_PATH },
	{ is_account, REDACTED_NAME },
	{ is_ipv4, REDACTED_ADDRESS },
	{ is_colon_address, REDACTED_ADDRESS },
	{ is_slashed_name, REDACTED_NAME },
	{ is_dotted_name, REDACTED_HOST },
	{ is_id, REDACTED_ID },
	{ is_told_as_a_name, REDACTED_HOST },
};

/* Chips and devices of hwmon, which the kernel names: "ina226@1-0040/power1". */
static bool is_sensor(const struct word *word)
{
	static const char *const kinds[] = { "power", "energy", "in", "curr" };
	const char *channel = strchr(word->text, '/');

	for (size_t i = 0; channel && i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(channel + 1, kinds[i], len) == 0 && ascii_is_digit(channel[1 + len]))
			return strncmp(word->text, "hwmon", 5) == 0 || strchr(word->text, '@');
	}
	return false;
}

static void put_word(struct redaction *redaction, const struct word *word, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms) && !is_sensor(word); i++) {
		if (forms[i].is(word)) {
			add_pseudonym(redaction, forms[i].kind, word->text, out);
			return;
		}
	}
	strbuf_add(out, word->text, word->len);
}

/* Characters up to the end of the word; a URL ends only where a text would. */
static size_t word_length(const char *text)
{
	static const char ends[] = " \t\r\n\"'`()<>[]{},;|=";
	const char *scheme = strstr(text, "://");
	size_t len = strcspn(text, ends);

	if (scheme && scheme < text + len)
		len = strcspn(text, " \t\r\n\"'`<>");
	while (len > 1 && strchr(".:!?", text[len - 1]))
		len--;
	return len;
}

/* The length of the text in quotation marks at @text, without them; 0 without quotation marks. */
static size_t quoted_length(const char *text, size_t at)
{
	const char *end;

	if (text[at] != '"' && text[at] != '\'')
		return 0;
	if (text[at] == '\'' && at && ascii_is_alnum(text[at - 1])) /* an apostrophe */
		return 0;
	end = strpbrk(text + at + 1, text[at] == '"' ? "\"\n" : "'\n");
	return end && *end != '\n' ? (size_t)(end - text) - at - 1 : 0;
}

/* Quoted words of the program itself. */
static bool is_common_quote(const char *text)
{
	static const char *const ours[] = { "package",
					    "core",
					    "uncore",
					    "dram",
					    "psys",
					    "gpu",
					    "platform",
					    "other",
					    "landlock",
					    "power",
					    "auto",
					    "cpu",
					    "cpuacct",
					    "pids",
					    "cpu,cpuacct",
					    "memory",
					    "unified",
					    "name=systemd",
					    "trained_power_model",
					    "kepler-meter 1",
					    "Meters outside",
					    NULL };

	return is_in(text, ours);
}

static void copy(char *to, const char *from, size_t len)
{
	len = len < REDACTION_TEXT_MAX ? len : REDACTION_TEXT_MAX - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

/* The word at @text, of @len. */
static void put(struct redaction *redaction, const char *text, size_t len, char *before,
		struct strbuf *out)
{
	struct word word = { .before = before, .after = text + len, .is_ours = redaction->is_ours };

	copy(word.text, text, len);
	word.len = strlen(word.text);
	put_word(redaction, &word, out);
	/* With the colon that distinguishes "host: bmc7" from a host. */
	copy(before, text, text[len] == ':' ? len + 1 : len);
}

static void replace_forms(struct redaction *redaction, const char *text, struct strbuf *out)
{
	char before[REDACTION_TEXT_MAX] = "", quoted[REDACTION_TEXT_MAX];
	size_t at = 0;

	while (text[at]) {
		size_t len = quoted_length(text, at);

		if (len) {
			copy(quoted, text + at + 1, len);
			strbuf_add_char(out, text[at]);
			if (is_common_quote(quoted))
				strbuf_add(out, text + at + 1, len);
			else
				add_pseudonym(redaction, REDACTED_NAME, quoted, out);
			strbuf_add_char(out, text[at]);
			at += len + 2;
			continue;
		}
		len = strchr(".:!?", text[at]) ? 0 : word_length(text + at);
		if (len)
			put(redaction, text + at, len, before, out);
		else
			strbuf_add_char(out, text[at]);
		at += len ? len : 1;
	}
}

int redaction_text(struct redaction *redaction, const char *text, bool by_form, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT, all = STRBUF_INIT;
	const struct strbuf *done = by_form ? &all : &known;

	replace_known(redaction, text, &known);
	if (by_form && strbuf_error(&known) == 0 && known.data)
		replace_forms(redaction, known.data, &all);
	if (redaction->failed || strbuf_error(&known) < 0 || strbuf_error(&all) < 0)
		return -ENOMEM;
	if (done->len)
		strbuf_add(out, done->data, done->len);
	return strbuf_error(out);
}
