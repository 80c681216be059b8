// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/account_rights.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/refusals.h"
#include "kube/json_bounded.h"

#define REVIEW_MS        10000
#define REVIEW_BYTES_MAX (1U << 16)
#define REVIEWS          "/apis/authorization.k8s.io/v1/"

static const struct cluster_refusal review_refused = { .resource = "subjectaccessreviews",
						       .subresource = "",
						       .verb = "create",
						       .group = "authorization.k8s.io" };

struct reviewer {
	struct api_client *client;
	struct cluster_facts *facts;
	char user[600];  /* this doctor's, "" until it is needed */
	bool is_refused; /* SubjectAccessReviews are */
};

/* POST of @content (taken over): the answer's object, or NULL with *answer. */
static json_t *post(struct reviewer *reviewer, const char *path, json_t *content,
		    struct api_answer *answer)
{
	json_t *object = NULL;

	if (content &&
	    api_request(reviewer->client, path, content, REVIEW_MS, REVIEW_BYTES_MAX, answer) ==
		    0 &&
	    answer->status < 300)
		object = json_parse_bounded(answer->body.data ? answer->body.data : "",
					    answer->body.len);
	json_decref(content);
	return object;
}

/* "system:serviceaccount:kepler:kepler", since Kubernetes 1.28. */
static void find_own_user(struct reviewer *reviewer)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	json_t *object;

	if (reviewer->user[0])
		return;
	object = post(reviewer, "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		      json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				"SelfSubjectReview"),
		      &answer);
	(void)snprintf(reviewer->user, sizeof(reviewer->user), "%.599s",
		       object ? kube_text(object, "status", "userInfo", "username", KUBE_END)
			      : "?");
	json_decref(object);
}

/* 1, 0, or -1: unknown. */
static int read_allowed(json_t *object)
{
	const json_t *allowed = kube_at(object, "status", "allowed", KUBE_END);
	int answer = json_is_boolean(allowed) ? json_is_true(allowed) : -1;

	json_decref(object);
	return answer;
}

static json_t *attributes_of(const struct cluster_right *right)
{
	return json_pack("{s:s, s:s, s:s}", "verb", right->verb, "resource", right->resource,
			 "subresource", right->subresource);
}

static int ask_of_another(struct reviewer *reviewer, const char *user, const char *ns,
			  const struct cluster_right *right)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	char group[300];
	json_t *object;

	(void)snprintf(group, sizeof(group), "system:serviceaccounts:%s", ns);
	object = post(reviewer, REVIEWS "subjectaccessreviews",
		      json_pack("{s:s, s:s, s:{s:s, s:[s, s, s], s:o}}", "apiVersion",
				"authorization.k8s.io/v1", "kind", "SubjectAccessReview", "spec",
				"user", user, "groups", "system:serviceaccounts", group,
				"system:authenticated", "resourceAttributes", attributes_of(right)),
		      &answer);
	if (!object && !reviewer->is_refused) {
		find_own_user(reviewer);
		reviewer->is_refused = true;
		if (strcmp(reviewer->user, user) != 0)
			refusal_add(reviewer->facts, &review_refused, "", &answer);
	}
	return read_allowed(object);
}

static int ask_of_itself(struct reviewer *reviewer, const struct cluster_right *right)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };

	return read_allowed(
		post(reviewer, REVIEWS "selfsubjectaccessreviews",
		     json_pack("{s:s, s:s, s:{s:o}}", "apiVersion", "authorization.k8s.io/v1",
			       "kind", "SelfSubjectAccessReview", "spec", "resourceAttributes",
			       attributes_of(right)),
		     &answer));
}

static void review(struct reviewer *reviewer, struct cluster_right *right)
{
	const struct cluster_daemonset *set = &reviewer->facts->daemonsets[right->daemonset];
	char user[600];
	int answer = -1;

	(void)snprintf(user, sizeof(user), "system:serviceaccount:%.253s:%.253s", set->ns,
		       set->account);
	if (!reviewer->is_refused)
		answer = ask_of_another(reviewer, user, set->ns, right);
	if (answer < 0 && strcmp(reviewer->user, user) == 0)
		answer = ask_of_itself(reviewer, right);
	right->is_known = answer >= 0;
	right->is_allowed = answer > 0;
}

int account_rights_read(struct api_client *client, struct cluster_facts *facts)
{
	static const struct cluster_right wanted[] = {
		{ .verb = "list", .resource = "pods", .subresource = "" },
		{ .verb = "watch", .resource = "pods", .subresource = "" },
		{ .verb = "get", .resource = "nodes", .subresource = "pods" },
		{ .verb = "get", .resource = "nodes", .subresource = "proxy" },
	};
	struct reviewer reviewer = { .client = client, .facts = facts };

	for (size_t d = 0; d < facts->daemonset_count; d++) {
		if (strcmp(facts->daemonsets[d].settings.source, "off") == 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
			struct cluster_right *right = &facts->rights[facts->right_count++];

			*right = wanted[i];
			right->daemonset = d;
			review(&reviewer, right);
		}
	}
	return 0;
}
