// SPDX-License-Identifier: Apache-2.0
#include "estimate/watched_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/num.h"

/* The hash of a file that cannot be read. */
#define MISSING 1

static bool is_same(const struct watched_stamp *a, const struct watched_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

static int take_stamp(const char *path, struct watched_stamp *ret)
{
	struct stat st;

	*ret = (struct watched_stamp){ 0 };
	if (stat(path, &st) < 0)
		return -errno;
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	ret->size = (uint64_t)st.st_size;
	ret->mtime_ns = (int64_t)st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_mtim.tv_nsec;
	return 0;
}

static int parse(const char *path, const char *text, size_t len, struct trained_model *ret,
		 struct diag *diag)
{
	int r = trained_model_parse(ret, path, text, len, diag);

	if (r < 0)
		return r;
	r = trained_model_check(ret, diag);
	if (r < 0)
		trained_model_release(ret);
	return r < 0 ? r : 1;
}

/* The stamp is taken before the content is read: a change in between is seen by the next look. */
int watched_model_read(const char *path, struct watched_stamp *stamp, struct trained_model *ret,
		       struct diag *diag)
{
	const struct watched_stamp known = *stamp;
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = take_stamp(path, stamp);

	if (r == 0 && is_same(stamp, &known)) {
		*stamp = known;
		return 0;
	}
	if (r == 0)
		r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);
	if (r < 0) {
		*stamp = (struct watched_stamp){ .hash = MISSING };
		return known.hash == MISSING ? r
					     : diag_set(diag, r, "%s: cannot be read: %s", path,
							strerrordesc_np(-r));
	}
	stamp->hash = hash64_bytes(HASH64_START, text, len);
	if (stamp->hash == known.hash)
		return 0;
	return parse(path, text, len, ret, diag);
}
