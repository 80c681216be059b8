// SPDX-License-Identifier: Apache-2.0
/* The time that answers have in a turn of the server's loop; what they say is the rig's. */
#include "model-server/model_api.h"

#include "base/clock.h"
#include "tests/unit/unit.h"

static struct model_api api = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct http_route routes[MODEL_API_ROUTES];

static int begin(void **state)
{
	model_api_routes(&api, routes);
	model_api_replace(&api, edition_new(calloc(1, sizeof(struct repository)), NULL));
	return 0;
}

static int end(void **state)
{
	model_api_replace(&api, NULL);
	return 0;
}

/* HTTP_ASK_AGAIN: it waits for a later turn. */
static int ask(const char *path, uint64_t turn)
{
	const struct http_request request = { .path = path, .if_none_match = "", .turn = turn };
	struct http_response response = { .status = HTTP_ASK_AGAIN };

	for (size_t i = 0; i < MODEL_API_ROUTES; i++)
		if (strcmp(routes[i].path, path) == 0)
			routes[i].handler(routes[i].userdata, &request, &response);
	if (response.release)
		response.release(response.owner);
	return response.status;
}

static void a_turn_has_a_limit_of_work(void **state)
{
	assert_int_equal(ask("/best-models", 7), 200);
	assert_true(api.work_ns > 0);
	api.work_ns = NSEC_PER_SEC;
	assert_int_equal(ask("/best-models", 7), HTTP_ASK_AGAIN);
	assert_int_equal(ask("/api/v2/models", 7), HTTP_ASK_AGAIN);
	assert_int_equal(ask("/healthz", 7), 200);
	assert_int_equal(ask("/metrics", 7), 200);
	assert_int_equal(ask("/readyz", 7), 503); /* answered: there is no model */
	assert_int_equal(ask("/best-models", 8), 200);
}

static void an_answer_keeps_its_edition(void **state)
{
	struct edition *edition = edition_ref(api.edition);
	model_api_replace(&api, edition_new(calloc(1, sizeof(struct repository)), NULL));
	assert_ptr_not_equal(api.edition, edition);
	assert_int_equal(edition->repository->entry_count, 0); /* it is still there */
	edition_unref(edition);
}

/* Refusals differ with each request, and are as many as a client likes. */
static void kept_answers_have_a_limit_of_bytes(void **state)
{
	struct edition *edition = api.edition;
	char request[EDITION_KEY_MAX] = "";
	char *text = calloc(1, 200);
	struct edition_answer answer = { .refusal = served_body_new(400, "text/plain", text, 100,
								    NULL) };
	size_t total = served_bodies_total();

	for (uint32_t i = 0; i < 3 * EDITION_ANSWERS_MAX; i++) {
		memcpy(request, &i, sizeof(i));
		edition_keep_answer(edition, request, sizeof(request), &answer);
		assert_true(edition->answer_bytes <= EDITION_ANSWER_BYTES_MAX);
		assert_true(edition_find_answer(edition, request, sizeof(request), &answer));
	}
	assert_true(edition->kept_count < EDITION_ANSWERS_MAX);
	for (uint32_t i = 0; i < 3 * EDITION_ANSWERS_MAX; i++) {
		memcpy(request, &i, sizeof(i));
		edition_keep_answer(edition, request, sizeof(i), &answer);
	}
	assert_true(edition->kept_count <= EDITION_ANSWERS_MAX);
	assert_int_equal(served_bodies_total(), total);
	served_body_unref(answer.refusal);
}

static void only_health_checks_need_no_token(void **state)
{
	for (size_t i = 0; i < MODEL_API_ROUTES; i++)
		assert_int_equal(routes[i].is_open, strcmp(routes[i].path, "/healthz") == 0 ||
							    strcmp(routes[i].path, "/readyz") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_turn_has_a_limit_of_work, begin, end),
		cmocka_unit_test_setup_teardown(an_answer_keeps_its_edition, begin, end),
		cmocka_unit_test_setup_teardown(kept_answers_have_a_limit_of_bytes, begin, end),
		cmocka_unit_test_setup_teardown(only_health_checks_need_no_token, begin, end),
	};

	return unit_run(tests);
}
