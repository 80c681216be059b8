// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_schedule.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

#define DAYS     7
#define ALL_DAYS ((1U << DAYS) - 1)

#define WORD_MAX 32

static const char *const day_names[DAYS] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

/* The day at the beginning of *@at, which moves on; -1: there is none. */
static int take_day(const char **at)
{
	for (int day = 0; day < DAYS; day++) {
		if (strncasecmp(*at, day_names[day], 3) == 0) {
			*at += 3;
			return day;
		}
	}
	return -1;
}

/* "mon-fri,sun" → bits; 0: it is not that. */
static uint8_t read_days(const char *word)
{
	unsigned days = 0;

	for (;;) {
		int first = take_day(&word), last = first;

		if (first >= 0 && *word == '-') {
			word++;
			last = take_day(&word);
		}
		if (first < 0 || last < 0)
			return 0;
		for (int day = first;; day = (day + 1) % DAYS) {
			days |= 1U << day;
			if (day == last)
				break;
		}
		if (*word == '\0')
			return (uint8_t)days;
		if (*word++ != ',')
			return 0;
	}
}

static bool take_digits(const char **at, unsigned *ret)
{
	if (!isdigit((unsigned char)(*at)[0]) || !isdigit((unsigned char)(*at)[1]))
		return false;
	*ret = (unsigned)((*at)[0] - '0') * 10 + (unsigned)((*at)[1] - '0');
	*at += 2;
	return true;
}

static bool take_minute(const char **at, unsigned *ret)
{
	unsigned hour, minute;

	if (!take_digits(at, &hour) || *(*at)++ != ':' || !take_digits(at, &minute))
		return false;
	*ret = hour * 60 + minute;
	return minute < 60 && *ret <= RATE_MINUTES_A_DAY;
}

/* "07:00-20:00" */
static bool read_times(const char *word, struct rate_entry *entry)
{
	unsigned from, until;

	if (!take_minute(&word, &from) || *word++ != '-' || !take_minute(&word, &until) || *word)
		return false;
	entry->from_min = (uint16_t)(from % RATE_MINUTES_A_DAY);
	entry->until_min = (uint16_t)(until % RATE_MINUTES_A_DAY);
	/* "07:00-07:00" would be read as never by some and as always by others. */
	return from != until;
}

static int read_word(const char *word, struct rate_entry *entry, bool *has_value)
{
	uint8_t days = read_days(word);

	if (*has_value)
		return -EINVAL; /* the value comes last */
	if (days) {
		entry->days = days;
		return 0;
	}
	if (strchr(word, ':'))
		return read_times(word, entry) ? 0 : -EINVAL;
	*has_value = true;
	return parse_double(word, &entry->value);
}

/* One entry: the @len bytes at @text. */
static int read_entry(const char *text, size_t len, struct rate_entry *entry)
{
	bool has_value = false;

	*entry = (struct rate_entry){ .days = ALL_DAYS };
	while (len) {
		char word[WORD_MAX];
		size_t blanks = strspn(text, " \t");

		blanks = blanks < len ? blanks : len;
		text += blanks;
		len -= blanks;
		size_t word_len = strcspn(text, " \t;");
		word_len = word_len < len ? word_len : len;
		if (word_len == 0)
			break;
		if (word_len >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, word_len);
		word[word_len] = '\0';
		if (read_word(word, entry, &has_value) < 0)
			return -EINVAL;
		text += word_len;
		len -= word_len;
	}
	return has_value ? 0 : -EINVAL;
}

int rate_schedule_parse(const char *text, struct rate_schedule *ret, struct diag *diag)
{
	ret->count = 0;
	for (;;) {
		size_t len = strcspn(text, ";");

		if (ret->count == RATE_SCHEDULE_MAX)
			return diag_set(diag, -EINVAL, "must have at most %d entries",
					RATE_SCHEDULE_MAX);
		if (read_entry(text, len, &ret->entries[ret->count]) < 0)
			return diag_set(diag, -EINVAL,
					"entry %zu must be as in \"mon-fri 07:00-20:00 0.34\": "
					"days, a time, both or neither, and a value; not \"%.*s\"",
					ret->count + 1, (int)(len < 60 ? len : 60), text);
		ret->count++;
		text += len;
		if (*text == '\0')
			return 0;
		text++;
	}
}

static bool applies(const struct rate_entry *entry, unsigned weekday, unsigned minute)
{
	unsigned yesterday = (weekday + DAYS - 1) % DAYS;

	if (entry->from_min == entry->until_min)
		return entry->days & 1U << weekday;
	if (entry->from_min < entry->until_min)
		return entry->days & 1U << weekday && minute >= entry->from_min &&
		       minute < entry->until_min;
	return (entry->days & 1U << weekday && minute >= entry->from_min) ||
	       (entry->days & 1U << yesterday && minute < entry->until_min);
}

double rate_schedule_at(const struct rate_schedule *schedule, unsigned weekday, unsigned minute)
{
	for (size_t i = 0; i < schedule->count; i++) {
		if (applies(&schedule->entries[i], weekday, minute))
			return schedule->entries[i].value;
	}
	return (double)NAN;
}
