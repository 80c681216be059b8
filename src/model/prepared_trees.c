// SPDX-License-Identifier: Apache-2.0
/*
 * What takes time is memory's latency and branches that are predicted wrongly, not arithmetic. So
 * no branch depends on the row but the ends of loops, states of all trees are combined as vectors,
 * and rests are walked several side by side. Thresholds and values are compared as integers of the
 * same order, in which a tree that goes left at its threshold (x <= t) is one whose threshold is
 * the next number (x < t').
 */
#include "model/prepared_trees.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define EXITS_MAX      64
#define PARTS_MAX      (2 * EXITS_MAX - 1)
#define STATE_STEP     32 /* splits from one state that is kept to the next */
#define PAIRS_AT_ONCE  4
#define RESTS_AT_ONCE  20 /* or as few as these, where they are enough for as many rounds: */
#define RESTS_FEWER    16
#define REST_NODES_MAX UINT16_MAX
#define KEY_HIGHEST    UINT32_MAX /* above that of each number */
/* So that arguments that are constant cost nothing. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Exits that are left to two trees. */
typedef uint64_t state_pair __attribute__((vector_size(2 * sizeof(uint64_t))));

/* The splits by one feature, in the order of their keys. */
struct feature_splits {
	size_t feature, count;
	uint32_t *keys;  /* [count]: right at a value from here on */
	uint64_t *keeps; /* [count]: the exits that are left when a split sends a row right */
	uint16_t *trees; /* [count]: whose exits */
	/*
	 * [state_count × width / 2]: the exits of all trees that are left by the first 0,
	 * STATE_STEP, 2 × STATE_STEP … splits, and last by those that send a row right that lacks
	 * the feature.
	 */
	state_pair *states;
	size_t state_count;
};

/* A leaf is its own right child, and sees a value to which nothing is above. */
struct rest_node {
	uint32_t key;   /* left below it; of a leaf: the bits of its value */
	uint16_t right; /* from here, behind the left child; of a leaf 0 */
	uint8_t feature;
	bool missing_left;
};

struct prepared_trees {
	size_t count;     /* trees */
	size_t width;     /* of a state: as many, up to whole blocks */
	size_t with_rest; /* exits of the first trees are rests, those of the others leaves */
	size_t features;
	struct feature_splits *splits; /* [used] */
	size_t used;                   /* features that have splits */
	/* [count × EXITS_MAX]: the bits of a leaf's value, or the first node of a rest. */
	uint32_t *exits;
	struct rest_node *rests;
	size_t rest_count;
};

/* A split in the upper part of a tree, or an exit. */
struct part {
	uint32_t node;
	uint8_t left; /* its left child among the parts, the right one follows; 0: an exit */
	uint8_t first, exits; /* the exits below it */
};

struct split {
	uint32_t key;
	uint16_t feature, tree;
	uint64_t keeps;
	bool missing_left;
};

struct maker {
	const struct tree_node *nodes;
	size_t node_count;
	struct prepared_trees *trees;
	uint32_t *leaves; /* [node_count]: below each node */
	struct split *splits;
	size_t split_count, splits_size;
	uint32_t *queue; /* the nodes of a rest, by levels */
	size_t queue_size, rests_size;
};

/* Integers have the order of the numbers; both zeros are one. */
static ALWAYS_INLINE uint32_t key_of(float value)
{
	float one_zero = value + 0.0F;
	uint32_t bits;

	memcpy(&bits, &one_zero, sizeof(bits));
	return bits >> 31 ? ~bits : bits | 0x80000000;
}

static uint32_t key_of_node(const struct tree_node *node)
{
	return key_of(node->threshold) + node->or_equal;
}

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void maker_release(struct maker *maker)
{
	free(maker->leaves);
	free(maker->splits);
	free(maker->queue);
	prepared_trees_free(maker->trees);
}

/* Trees that share nodes can seem to have more leaves than there are nodes. */
static void count_leaves(struct maker *maker)
{
	for (size_t i = maker->node_count; i-- > 0;) {
		uint32_t left = maker->nodes[i].left;
		size_t sum = left ? (size_t)maker->leaves[left] + maker->leaves[left + 1] : 1;

		maker->leaves[i] = (uint32_t)(sum < maker->node_count ? sum : maker->node_count);
	}
}

/* The exit with most leaves below it; @count: each exit is a leaf. */
static size_t largest_exit(const struct maker *maker, const struct part *parts, size_t count)
{
	size_t best = count;
	uint32_t most = 1;

	for (size_t i = 0; i < count; i++) {
		if (parts[i].left || maker->leaves[parts[i].node] <= most)
			continue;
		best = i;
		most = maker->leaves[parts[i].node];
	}
	return best;
}

/* The upper part of a tree: how many parts there are. Children stand behind their parents. */
static size_t choose_parts(const struct maker *maker, uint32_t root, struct part *parts)
{
	size_t count = 1, place;

	parts[0] = (struct part){ .node = root };
	while (count < PARTS_MAX && (place = largest_exit(maker, parts, count)) < count) {
		uint32_t left = maker->nodes[parts[place].node].left;

		parts[place].left = (uint8_t)count;
		parts[count++] = (struct part){ .node = left };
		parts[count++] = (struct part){ .node = left + 1 };
	}
	for (size_t i = count; i-- > 0;)
		parts[i].exits =
			parts[i].left ? parts[parts[i].left].exits + parts[parts[i].left + 1].exits
				      : 1;
	for (size_t i = 0; i < count; i++) {
		if (!parts[i].left)
			continue;
		parts[parts[i].left].first = parts[i].first;
		parts[parts[i].left + 1].first = parts[i].first + parts[parts[i].left].exits;
	}
	return count;
}

static int add_split(struct maker *maker, size_t tree, const struct part *split,
		     const struct part *left)
{
	const struct tree_node *node = &maker->nodes[split->node];

	if (ARRAY_RESERVE(maker->splits, maker->splits_size, maker->split_count + 1) < 0)
		return -ENOMEM;
	maker->splits[maker->split_count++] = (struct split){
		.key = key_of_node(node),
		.feature = node->feature,
		.tree = (uint16_t)tree,
		.keeps = ~(((UINT64_C(1) << left->exits) - 1) << left->first),
		.missing_left = node->missing_left,
	};
	return 0;
}

/* Copies the node at @place of the queue, and queues its children. */
static int add_rest_node(struct maker *maker, size_t place, size_t *queued)
{
	const struct tree_node *node = &maker->nodes[maker->queue[place]];
	struct rest_node *rest = &maker->trees->rests[maker->trees->rest_count++];

	if (!node->left) {
		*rest = (struct rest_node){ .key = bits_of(node->threshold),
					    .feature = (uint8_t)maker->trees->features };
		return 0;
	}
	*rest = (struct rest_node){ .key = key_of_node(node),
				    .right = (uint16_t)(*queued - place + 1),
				    .feature = (uint8_t)node->feature,
				    .missing_left = node->missing_left };
	if (ARRAY_RESERVE(maker->queue, maker->queue_size, *queued + 2) < 0)
		return -ENOMEM;
	maker->queue[(*queued)++] = node->left;
	maker->queue[(*queued)++] = node->left + 1;
	return 0;
}

static int add_rest(struct maker *maker, uint32_t root)
{
	size_t nodes = 2 * (size_t)maker->leaves[root] - 1, queued = 1;
	int r = 0;

	if (nodes > REST_NODES_MAX || maker->trees->rest_count + nodes > maker->node_count)
		return -ENOTSUP;
	if (ARRAY_RESERVE(maker->trees->rests, maker->rests_size,
			  maker->trees->rest_count + nodes) < 0 ||
	    ARRAY_RESERVE(maker->queue, maker->queue_size, 1) < 0)
		return -ENOMEM;
	maker->queue[0] = root;
	for (size_t i = 0; r == 0 && i < queued; i++)
		r = add_rest_node(maker, i, &queued);
	return r;
}

static int add_tree(struct maker *maker, size_t tree, uint32_t root)
{
	struct prepared_trees *trees = maker->trees;
	struct part parts[PARTS_MAX];
	size_t count = choose_parts(maker, root, parts);
	uint32_t *exits = trees->exits + tree * EXITS_MAX;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct part *part = &parts[i];

		if (part->left) {
			r = add_split(maker, tree, part, &parts[part->left]);
		} else if (tree < trees->with_rest) {
			exits[part->first] = (uint32_t)trees->rest_count;
			r = add_rest(maker, part->node);
		} else {
			exits[part->first] = bits_of(maker->nodes[part->node].threshold);
		}
	}
	return r;
}

/* By feature, and by key; in equal ones by tree, so that the result is always the same. */
static int compare_splits(const void *a, const void *b)
{
	const struct split *x = a, *y = b;

	if (x->feature != y->feature)
		return x->feature < y->feature ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->tree > y->tree) - (x->tree < y->tree);
}

/* States, by going through the splits with one that is overwritten in the end. */
static void fill_states(const struct split *splits, size_t width, struct feature_splits *to)
{
	uint64_t *states = (uint64_t *)to->states, *last = states + (to->state_count - 1) * width;

	memset(last, 0xff, width * sizeof(*last));
	for (size_t i = 0; i <= to->count; i++) {
		if (i % STATE_STEP == 0)
			memcpy(states + i / STATE_STEP * width, last, width * sizeof(*last));
		if (i < to->count)
			last[splits[i].tree] &= splits[i].keeps;
	}
	memset(last, 0xff, width * sizeof(*last));
	for (size_t i = 0; i < to->count; i++) {
		if (!splits[i].missing_left)
			last[splits[i].tree] &= splits[i].keeps;
	}
}

static int add_feature(struct prepared_trees *trees, const struct split *splits, size_t count)
{
	struct feature_splits *to = &trees->splits[trees->used++];

	to->feature = splits[0].feature;
	to->count = count;
	to->state_count = count / STATE_STEP + 2;
	to->keys = calloc(count, sizeof(*to->keys));
	to->keeps = calloc(count, sizeof(*to->keeps));
	to->trees = calloc(count, sizeof(*to->trees));
	to->states = calloc(to->state_count * trees->width / 2, sizeof(*to->states));
	if (!to->keys || !to->keeps || !to->trees || !to->states)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		to->keys[i] = splits[i].key;
		to->keeps[i] = splits[i].keeps;
		to->trees[i] = splits[i].tree;
	}
	fill_states(splits, trees->width, to);
	return 0;
}

static int add_features(struct maker *maker)
{
	const struct split *splits = maker->splits;
	size_t begin = 0;
	int r = 0;

	if (maker->split_count == 0)
		return 0;
	qsort(maker->splits, maker->split_count, sizeof(*maker->splits), compare_splits);
	maker->trees->splits = calloc(maker->trees->features, sizeof(*maker->trees->splits));
	if (!maker->trees->splits)
		return -ENOMEM;
	for (size_t i = 1; r == 0 && i <= maker->split_count; i++) {
		if (i < maker->split_count && splits[i].feature == splits[begin].feature)
			continue;
		r = add_feature(maker->trees, splits + begin, i - begin);
		begin = i;
	}
	return r;
}

/* With room for the states of whole blocks. */
static struct prepared_trees *new_trees(size_t count, size_t features)
{
	struct prepared_trees *ret = calloc(1, sizeof(*ret));

	if (!ret)
		return NULL;
	ret->count = count;
	ret->features = features;
	ret->width = (count + 2 * PAIRS_AT_ONCE - 1) / (2 * PAIRS_AT_ONCE) * 2 * PAIRS_AT_ONCE;
	ret->exits = calloc(count * EXITS_MAX, sizeof(*ret->exits));
	if (!ret->exits) {
		prepared_trees_free(ret);
		return NULL;
	}
	return ret;
}

int prepared_trees_new(const struct tree_node *nodes, size_t node_count, const uint32_t *roots,
		       size_t root_count, size_t features, struct prepared_trees **ret)
{
	CLEANUP(maker_release) struct maker maker = { .nodes = nodes, .node_count = node_count };
	int r = 0;

	if (root_count == 0 || root_count > PREPARED_TREES_MAX || features > PREPARED_FEATURES_MAX)
		return -ENOTSUP;
	maker.trees = new_trees(root_count, features);
	maker.leaves = calloc(node_count, sizeof(*maker.leaves));
	if (!maker.trees || !maker.leaves)
		return -ENOMEM;
	count_leaves(&maker);
	for (size_t i = 0; i < root_count; i++) {
		if (maker.leaves[roots[i]] > EXITS_MAX)
			maker.trees->with_rest = i + 1;
	}
	for (size_t i = 0; r == 0 && i < root_count; i++)
		r = add_tree(&maker, i, roots[i]);
	if (r == 0)
		r = add_features(&maker);
	if (r == 0)
		*ret = TAKE_PTR(maker.trees);
	return r;
}

void prepared_trees_free(struct prepared_trees *trees)
{
	if (!trees)
		return;
	for (size_t i = 0; i < trees->used; i++) {
		free(trees->splits[i].keys);
		free(trees->splits[i].keeps);
		free(trees->splits[i].trees);
		free(trees->splits[i].states);
	}
	free(trees->splits);
	free(trees->exits);
	free(trees->rests);
	free(trees);
}

size_t prepared_trees_size(const struct prepared_trees *trees)
{
	size_t ret = sizeof(*trees) + trees->features * sizeof(*trees->splits) +
		     trees->count * EXITS_MAX * sizeof(*trees->exits) +
		     trees->rest_count * sizeof(*trees->rests);

	for (size_t i = 0; i < trees->used; i++) {
		const struct feature_splits *splits = &trees->splits[i];

		ret += splits->count * (sizeof(*splits->keys) + sizeof(*splits->keeps) +
					sizeof(*splits->trees)) +
		       splits->state_count * trees->width / 2 * sizeof(*splits->states);
	}
	return ret;
}

/* The row that is evaluated. */
struct seen_row {
	uint32_t keys[PREPARED_FEATURES_MAX + 1]; /* the one behind the features is the highest */
	bool is_missing[PREPARED_FEATURES_MAX + 1];
	bool lacks_some;
};

static void see_row(const struct prepared_trees *trees, const float *row, struct seen_row *ret)
{
	ret->lacks_some = false;
	for (size_t i = 0; i < trees->features; i++) {
		ret->keys[i] = key_of(row[i]);
		ret->is_missing[i] = isnan(row[i]);
		ret->lacks_some |= ret->is_missing[i];
	}
	ret->keys[trees->features] = KEY_HIGHEST;
	ret->is_missing[trees->features] = false;
}

/* All ones of a negative number, else 0. */
static ALWAYS_INLINE uint64_t sign_mask(int64_t number)
{
	return 0 - ((uint64_t)number >> 63);
}

/*
 * How many of the keys, of which there is one at least, are not above @key. Compilers make a branch
 * of a condition here, which would be predicted wrongly at every other step.
 */
static size_t count_up_to(const uint32_t *keys, size_t count, uint32_t key)
{
	size_t first = 0;

	while (count > 1) {
		size_t half = count / 2;
		/* All ones where the key in the middle is not above. */
		uint64_t goes_on = sign_mask((int64_t)keys[first + half - 1] - 1 - (int64_t)key);

		first += half & (size_t)goes_on;
		count -= half;
	}
	return first + (keys[first] <= key);
}

/*
 * The states of which the exits of all trees are what is left together: one that is kept of each
 * feature, and @rest for the splits behind these.
 */
static void find_states(const struct prepared_trees *trees, const struct seen_row *row,
			const state_pair **kept, uint64_t *rest)
{
	size_t right[PREPARED_FEATURES_MAX];

	for (size_t i = 0; i < trees->used; i++)
		right[i] = count_up_to(trees->splits[i].keys, trees->splits[i].count,
				       row->keys[trees->splits[i].feature]);
	memset(rest, 0xff, trees->width * sizeof(*rest));
	for (size_t i = 0; i < trees->used; i++) {
		const struct feature_splits *splits = &trees->splits[i];
		size_t state = right[i] / STATE_STEP;

		if (row->is_missing[splits->feature]) {
			kept[i] = splits->states + (splits->state_count - 1) * trees->width / 2;
			continue;
		}
		kept[i] = splits->states + state * trees->width / 2;
		for (size_t j = state * STATE_STEP; j < right[i]; j++)
			rest[splits->trees[j]] &= splits->keeps[j];
	}
}

/* Takes away from @state what the kept states have not left. */
static void join_states(const struct prepared_trees *trees, const state_pair *const *kept,
			state_pair *state)
{
	size_t pairs = trees->width / 2, used = trees->used;

	for (size_t i = 0; i < pairs; i += PAIRS_AT_ONCE) {
		state_pair a = state[i], b = state[i + 1], c = state[i + 2], d = state[i + 3];

		for (size_t j = 0; j < used; j++) {
			a &= kept[j][i];
			b &= kept[j][i + 1];
			c &= kept[j][i + 2];
			d &= kept[j][i + 3];
		}
		state[i] = a;
		state[i + 1] = b;
		state[i + 2] = c;
		state[i + 3] = d;
	}
}

static ALWAYS_INLINE const struct rest_node *next_node(const struct rest_node *node,
						       const struct seen_row *row, bool complete)
{
	/* Of both, as wide numbers, the sign of the difference: -1, or 0 for the right child. */
	int64_t to_left =
		(int64_t)sign_mask((int64_t)row->keys[node->feature] - (int64_t)node->key);

	if (!complete && row->is_missing[node->feature])
		to_left = -(int64_t)node->missing_left;
	return node + ((int64_t)node->right + to_left);
}

/* Walks the rests from @at [count] on: the bits of their values. */
static ALWAYS_INLINE void walk_rests(const struct rest_node **at, size_t count,
				     const struct seen_row *row, bool complete)
{
	size_t moves;

	do {
		moves = 0;
#ifndef __clang__ /* which does so by itself */
#pragma GCC unroll 20
#endif
		for (size_t i = 0; i < count; i++) {
			moves += at[i]->right;
			at[i] = next_node(at[i], row, complete);
		}
	} while (moves > 0);
}

/* The exits of trees whose exits are rests become values, @at_once of them together. */
static ALWAYS_INLINE void replace_rests(const struct prepared_trees *trees,
					const struct seen_row *row, uint32_t *exits, size_t at_once,
					bool complete)
{
	const struct rest_node *at[RESTS_AT_ONCE];
	size_t rests = trees->with_rest < trees->count ? trees->with_rest : trees->count;

	for (size_t i = 0; i < rests; i += at_once) {
		size_t count = rests - i;

		count = count < at_once ? count : at_once;
		for (size_t j = 0; j < at_once; j++)
			at[j] = &trees->rests[exits[i + (j < count ? j : 0)]];
		walk_rests(at, at_once, row, complete);
		for (size_t j = 0; j < count; j++)
			exits[i + j] = at[j]->key;
	}
}

static bool fewer_are_enough(const struct prepared_trees *trees)
{
	size_t rounds = (trees->with_rest + RESTS_AT_ONCE - 1) / RESTS_AT_ONCE;

	return trees->with_rest <= rounds * RESTS_FEWER;
}

void prepared_trees_leaves(const struct prepared_trees *trees, const float *row, float *ret)
{
	const state_pair *kept[PREPARED_FEATURES_MAX];
	state_pair pairs[PREPARED_TREES_MAX / 2];
	uint64_t *state = (uint64_t *)pairs;
	uint32_t exits[PREPARED_TREES_MAX];
	struct seen_row seen;

	see_row(trees, row, &seen);
	find_states(trees, &seen, kept, state);
	join_states(trees, kept, pairs);
	for (size_t i = 0; i < trees->count; i++)
		exits[i] = trees->exits[i * EXITS_MAX + (unsigned)__builtin_ctzll(state[i])];
	if (seen.lacks_some)
		replace_rests(trees, &seen, exits, RESTS_AT_ONCE, false);
	else if (fewer_are_enough(trees))
		replace_rests(trees, &seen, exits, RESTS_FEWER, true);
	else
		replace_rests(trees, &seen, exits, RESTS_AT_ONCE, true);
	memcpy(ret, exits, trees->count * sizeof(*ret));
}
