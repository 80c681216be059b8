// SPDX-License-Identifier: Apache-2.0
#include "truth/timed_meter.h"

#include <errno.h>

#include "truth/meter_list.h"

static void release_call(void *state)
{
	timed_call_free(state);
}

static int read_exactly(struct timed_call *call, void *ret, size_t size)
{
	ssize_t len = timed_call_make(call, ret, size);

	return len < 0 ? (int)len : (size_t)len == size ? 0 : -EIO;
}

int timed_meter_read(struct truth_meter *meter, void *ret, size_t size, struct diag *diag)
{
	int r = read_exactly(meter->state, ret, size);

	return r < 0 ? diag_set(diag, r, "%s: it cannot be read: %s", meter->path,
				timed_call_error(r))
		     : 0;
}

struct timed_call *timed_meter_try(timed_call_fn *call, void *state, void *ret, size_t size,
				   const char *place, struct truth *truth)
{
	struct timed_call *timed = NULL;
	int r = timed_call_new(call, state, &timed);

	if (r == 0)
		r = read_exactly(timed, ret, size);
	if (r == 0)
		return timed;
	truth_search_failed(truth, place, r);
	timed_call_free(timed);
	return NULL;
}

void timed_meter_add(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like, struct timed_call *call)
{
	struct truth_meter meter = *like;

	meter.state = call;
	meter.release = release_call;
	truth_add_meter(truth, kind, path, &meter);
}
