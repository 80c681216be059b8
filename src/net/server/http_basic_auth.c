// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_basic_auth.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/thread.h"
#include "net/server/crypt_library.h"

#define KEY_LEN      32
#define WAYS         4
#define RIGHT_SETS   256 /* a right answer is kept until others push it out */
#define WRONG_SETS   64  /* wrong ones apart, so that guesses push out no right one */
#define PASSWORD_MAX 512 /* bytes; libcrypt takes no more, and bcrypt looks at 72 */
#define NAME_MAX_LEN 1024

struct answer {
	unsigned char key[KEY_LEN];
	uint64_t used; /* when, by the count of questions; 0: free */
};

struct comparison {
	unsigned char key[KEY_LEN];
	char hash[WEB_BCRYPT_LEN + 1];
	char password[PASSWORD_MAX + 1];
	uint64_t peer;
	bool unknown; /* there is no such user: the answer is no, whatever the hash */
};

struct http_basic_auth {
	pthread_mutex_t lock; /* of everything below but the secret, which does not change */
	pthread_cond_t changed;
	pthread_t thread;
	bool started, stop;
	unsigned char secret[KEY_LEN];
	uint64_t questions;
	uint64_t paused_until_ns; /* monotonic */
	struct answer right[RIGHT_SETS][WAYS], wrong[WRONG_SETS][WAYS];
	struct comparison waiting[HTTP_BASIC_WAITING_MAX]; /* the first is the one under way */
	size_t waiting_count;
	struct http_basic_stats stats;
	struct crypt_data crypt; /* the thread's */
};

/* Same time for equal and different ones, as all comparisons with secrets. */
static bool is_same(const unsigned char *left, const unsigned char *right, size_t len)
{
	volatile unsigned difference = 0;

	for (size_t i = 0; i < len; i++)
		difference |= left[i] ^ right[i];
	return !difference;
}

static bool compare(struct http_basic_auth *auth, const struct comparison *comparison)
{
	const struct crypt_library *library = crypt_library_get();
	const char *hash = library ? library->crypt_rn(comparison->password, comparison->hash,
						       &auth->crypt, (int)sizeof(auth->crypt))
				   : NULL;
	bool right = hash && strlen(hash) == WEB_BCRYPT_LEN &&
		     is_same((const unsigned char *)hash, (const unsigned char *)comparison->hash,
			     WEB_BCRYPT_LEN);

	explicit_bzero(&auth->crypt, sizeof(auth->crypt));
	return right && !comparison->unknown;
}

static struct answer *set_of(struct http_basic_auth *auth, bool right, const unsigned char *key)
{
	uint32_t hash;

	memcpy(&hash, key, sizeof(hash));
	return right ? auth->right[hash % RIGHT_SETS] : auth->wrong[hash % WRONG_SETS];
}

static bool is_kept(struct http_basic_auth *auth, bool right, const unsigned char *key)
{
	struct answer *set = set_of(auth, right, key);

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].used && is_same(set[i].key, key, KEY_LEN)) {
			set[i].used = auth->questions;
			return true;
		}
	}
	return false;
}

static void keep(struct http_basic_auth *auth, bool right, const unsigned char *key)
{
	struct answer *set = set_of(auth, right, key), *oldest = &set[0];

	for (size_t i = 1; i < WAYS; i++) {
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	memcpy(oldest->key, key, KEY_LEN);
	oldest->used = auth->questions;
}

static void drop_first(struct http_basic_auth *auth)
{
	auth->waiting_count--;
	memmove(&auth->waiting[0], &auth->waiting[1],
		auth->waiting_count * sizeof(auth->waiting[0]));
	explicit_bzero(&auth->waiting[auth->waiting_count], sizeof(auth->waiting[0]));
}

/* Under the lock, which is released while the hash is computed. */
static void compare_first(struct http_basic_auth *auth)
{
	struct comparison first = auth->waiting[0];
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), ended_ns;
	bool right;

	(void)pthread_mutex_unlock(&auth->lock);
	right = compare(auth, &first);
	ended_ns = clock_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_lock(&auth->lock);
	keep(auth, right, first.key);
	drop_first(auth);
	auth->stats.comparisons++;
	auth->stats.wrong += !right;
	if (!right)
		auth->paused_until_ns = ended_ns + HTTP_BASIC_PAUSE_TIMES * (ended_ns - began_ns);
	explicit_bzero(&first, sizeof(first));
}

static void wait_until(struct http_basic_auth *auth, uint64_t until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
					.tv_nsec = (long)(until_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(&auth->changed, &auth->lock, &until);
}

static void *work(void *userdata)
{
	struct http_basic_auth *auth = userdata;

	(void)pthread_setname_np(pthread_self(), "kepler-passwd"); /* for debugging only */
	(void)pthread_mutex_lock(&auth->lock);
	while (!auth->stop) {
		if (!auth->waiting_count)
			(void)pthread_cond_wait(&auth->changed, &auth->lock);
		else if (clock_ns(CLOCK_MONOTONIC) < auth->paused_until_ns)
			wait_until(auth, auth->paused_until_ns);
		else
			compare_first(auth);
	}
	(void)pthread_mutex_unlock(&auth->lock);
	return NULL;
}

int http_basic_auth_new(struct http_basic_auth **ret, struct diag *diag)
{
	struct http_basic_auth *auth;
	pthread_condattr_t attributes;
	int r = crypt_library_get() ? 0 : -ENOENT;

	if (r < 0)
		return diag_set(diag, r,
				"users with passwords need libcrypt, which can only be loaded when "
				"the program starts: restart it");
	auth = calloc(1, sizeof(*auth));
	if (!auth)
		return diag_set(diag, -ENOMEM, "out of memory");
	(void)pthread_mutex_init(&auth->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&auth->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	r = gnutls_rnd(GNUTLS_RND_KEY, auth->secret, sizeof(auth->secret)) < 0 ? -EIO : 0;
	if (r == 0)
		r = thread_start(&auth->thread, 0, work, auth);
	auth->started = r == 0;
	if (r < 0) {
		http_basic_auth_free(auth);
		return diag_set(diag, r, "no thread to compare passwords with: %s",
				strerrordesc_np(-r));
	}
	*ret = auth;
	return 0;
}

void http_basic_auth_free(struct http_basic_auth *auth)
{
	if (!auth)
		return;
	(void)pthread_mutex_lock(&auth->lock);
	auth->stop = true;
	(void)pthread_cond_signal(&auth->changed);
	(void)pthread_mutex_unlock(&auth->lock);
	if (auth->started)
		(void)pthread_join(auth->thread, NULL);
	(void)pthread_cond_destroy(&auth->changed);
	(void)pthread_mutex_destroy(&auth->lock);
	explicit_bzero(auth, sizeof(*auth));
	free(auth);
}

static int compare_names(const void *name, const void *user)
{
	return strcmp(name, ((const struct web_user *)user)->name);
}

/* A hash of the highest cost in use, and of no password: its last 31 characters are all zero. */
static void hash_of_nobody(unsigned cost, char ret[static WEB_BCRYPT_LEN + 1])
{
	(void)snprintf(ret, WEB_BCRYPT_LEN + 1, "$2b$%02u$%.*s", cost, WEB_BCRYPT_LEN - 7,
		       ".....................................................");
}

static int compute_key(const struct http_basic_auth *auth, const char *name, const char *hash,
		       const char *password, unsigned char ret[static KEY_LEN])
{
	char text[NAME_MAX_LEN + WEB_BCRYPT_LEN + PASSWORD_MAX + 3];
	int len = snprintf(text, sizeof(text), "%s%c%s%c%s", name, 0, hash, 0, password);
	int r = gnutls_hmac_fast(GNUTLS_MAC_SHA256, auth->secret, KEY_LEN, text, (size_t)len, ret);

	explicit_bzero(text, sizeof(text));
	return r < 0 ? -EIO : 0;
}

/* Under the lock. */
static enum http_basic_verdict queue(struct http_basic_auth *auth,
				     const struct comparison *comparison)
{
	size_t same_peer = 0;

	for (size_t i = 0; i < auth->waiting_count; i++) {
		if (is_same(auth->waiting[i].key, comparison->key, KEY_LEN))
			return HTTP_BASIC_PENDING;
		same_peer += auth->waiting[i].peer == comparison->peer;
	}
	if (auth->waiting_count == HTTP_BASIC_WAITING_MAX ||
	    same_peer >= HTTP_BASIC_WAITING_PER_PEER) {
		auth->stats.busy++;
		return HTTP_BASIC_BUSY;
	}
	auth->waiting[auth->waiting_count++] = *comparison;
	(void)pthread_cond_signal(&auth->changed);
	return HTTP_BASIC_PENDING;
}

enum http_basic_verdict http_basic_auth_ask(struct http_basic_auth *auth,
					    const struct web_config *config, const char *name,
					    const char *password, uint64_t peer)
{
	const struct web_user *user = bsearch(name, config->users, config->user_count,
					      sizeof(*config->users), compare_names);
	struct comparison comparison = { .peer = peer, .unknown = !user };
	enum http_basic_verdict verdict;

	if (strlen(name) > NAME_MAX_LEN || strlen(password) > PASSWORD_MAX)
		return HTTP_BASIC_REFUSED;
	if (user)
		(void)snprintf(comparison.hash, sizeof(comparison.hash), "%s", user->hash);
	else
		hash_of_nobody(config->max_cost, comparison.hash);
	(void)snprintf(comparison.password, sizeof(comparison.password), "%s", password);
	if (compute_key(auth, name, comparison.hash, password, comparison.key) < 0)
		return HTTP_BASIC_REFUSED;
	(void)pthread_mutex_lock(&auth->lock);
	auth->questions++;
	if (is_kept(auth, true, comparison.key))
		verdict = HTTP_BASIC_ADMITTED;
	else if (is_kept(auth, false, comparison.key))
		verdict = HTTP_BASIC_REFUSED;
	else
		verdict = queue(auth, &comparison);
	(void)pthread_mutex_unlock(&auth->lock);
	explicit_bzero(&comparison, sizeof(comparison));
	return verdict;
}

void http_basic_auth_get_stats(struct http_basic_auth *auth, struct http_basic_stats *ret)
{
	(void)pthread_mutex_lock(&auth->lock);
	*ret = auth->stats;
	(void)pthread_mutex_unlock(&auth->lock);
}
