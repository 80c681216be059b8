// SPDX-License-Identifier: Apache-2.0
/*
 * A recording: as a file, and as the records of a block, which a checksum guards there. What can be
 * decoded is booked, and whatever it says, the sums hold.
 */
#include <stdint.h>
#include <string.h>

#include "base/macro.h"
#include "record/record_decode.h"
#include "record/record_reader.h"
#include "replay/replay_books.h"
#include "replay/replay_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IDS_MAX 4096 /* beyond it tables are larger, and nothing is different */

static void read_file(const uint8_t *data, size_t size)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct diag diag = { "" };

	if (record_reader_open_memory("input", data, size, &reader, &diag) < 0)
		return;
	while (record_reader_next(reader, record, &diag) > 0)
		;
	record_reader_close(reader);
}

static bool is_small(const struct record *record)
{
	if (record->type == RECORD_OWNER)
		return record->owner.id < IDS_MAX;
	return record->type != RECORD_PROCESS || record->process.id < IDS_MAX;
}

static void book(const uint8_t *data, size_t size, const struct config *config)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_decoder *decoder = NULL;
	struct replay_books *books = NULL;
	struct diag diag = { "" };
	size_t at = 0;

	if (record_decoder_new(&decoder) < 0 || replay_books_new(config, &books) < 0)
		abort();
	while (record_decode(decoder, data, size, &at, record, &diag) > 0 && is_small(record) &&
	       replay_books_take(books, record, &diag) >= 0)
		;
	if (replay_table_imbalance_uj(books))
		abort();
	replay_books_free(books);
	record_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct config node = { .idle = { .mode = IDLE_MODE_LEARNED } };
	const struct config equal = { .idle = { .mode = IDLE_MODE_FIXED,
						.share = IDLE_SHARE_EQUAL,
						.device = DEVICE_IDLE_HOLDER,
						.watts = { { .name = "package", .amount = 5 } },
						.watts_count = 1 } };

	read_file(data, size);
	book(data, size, &node);
	book(data, size, &equal);
	return 0;
}
