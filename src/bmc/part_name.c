// SPDX-License-Identifier: Apache-2.0
/*
 * Most words are looked for wherever they are, because names are often written together. Short ones
 * that are in others as well ("SystemEmbedded" has "mem" in it) count only as words of their own. A
 * machine's sensor that is taken for a part's is not read, and the program says that there is none;
 * the other way round a wrong figure would be shown.
 */
#include "bmc/part_name.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/text/ascii.h"

static const char *const anywhere[] = { "cpu",  "proc", "gpu",   "accel",  "memory",    "dimm",
					"dram", "fan",  "pump",  "cool",   "disk",      "drive",
					"hdd",  "ssd",  "nvme",  "raid",   "storage",   "pcie",
					"fpga", "asic", "riser", "nvlink", "backplane", NULL };
static const char *const whole[] = { "mem", "nic", "ocp", "hba", "soc", "dpu", "pci", NULL };

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
	return ascii_is_alnum(c) && !ascii_is_digit(c);
}

/* The length of the word at @text: "Total" and "GPU" of TotalGPU, "GPU" and "Power" of GPUPower. */
static size_t word_length(const char *text)
{
	size_t len = 1;

	while (is_letter(text[len])) {
		bool begins = is_upper(text[len]) &&
			      (!is_upper(text[len - 1]) ||
			       (is_letter(text[len + 1]) && !is_upper(text[len + 1])));

		if (begins)
			break;
		len++;
	}
	return len;
}

static bool has_whole_word(const char *name)
{
	for (; *name; name++) {
		size_t len;

		if (!is_letter(*name))
			continue;
		len = word_length(name);
		for (const char *const *word = whole; *word; word++) {
			if (strlen(*word) == len && strncasecmp(name, *word, len) == 0)
				return true;
		}
		name += len - 1;
	}
	return false;
}

bool part_name_is_of_a_part(const char *name)
{
	for (const char *const *word = anywhere; *word; word++) {
		if (strcasestr(name, *word))
			return true;
	}
	return has_whole_word(name);
}
