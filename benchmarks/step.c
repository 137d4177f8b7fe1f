/* A step on the strategic problem in plain C, with which benchmarks/steps.py compares ours.

   x = (theta, alpha) in the capped cone |theta| <= alpha / slope_of_cone, gamma in [-1, 1]^n;

       L_i = slope alpha + phi(z_i) + gamma_i (s z_i - alpha kappa)     label +1
       L_i = slope alpha + phi(z_i) + s z_i                             label -1
       z_i = <x_i, theta> + zeta |movable part of theta|^2              label -1, who respond

   with the logistic phi and s = 1/2. Agents with label +1 have exact gradients. For the others the
   gradient in theta is estimated from values (one or two points) or computed from the answer
   (envelope).

   It draws the same numbers as NumPy's default generator, from the same state: PCG64, Lemire's
   bounded integers, Marsaglia and Tsang's ziggurat. Both programs therefore follow the same path,
   which the benchmark checks. Written for readability, compiled with -O3 -march=native. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* --- the generator */

typedef unsigned __int128 uint128;

typedef struct {
    uint128 state, increment;
    int has_half;
    uint32_t half;
} Generator;

static uint64_t next_64(Generator *g) {
    const uint128 multiplier = ((uint128)2549297995355413924u << 64) | 4865540595714422341u;
    g->state = g->state * multiplier + g->increment;
    uint64_t high = (uint64_t)(g->state >> 64), mixed = high ^ (uint64_t)g->state;
    unsigned turn = (unsigned)(high >> 58);
    return (mixed >> turn) | (mixed << (-turn & 63));
}

static uint32_t next_32(Generator *g) {
    if (g->has_half) {
        g->has_half = 0;
        return g->half;
    }
    uint64_t both = next_64(g);
    g->has_half = 1;
    g->half = (uint32_t)(both >> 32);
    return (uint32_t)both;
}

static double next_unit(Generator *g) { return (double)(next_64(g) >> 11) * 0x1p-53; }

/* Returns a uniform integer in 0 .. n - 1. */
static uint32_t uniform_int(Generator *g, uint32_t n) {
    uint64_t product = (uint64_t)next_32(g) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = -n % n;
        while ((uint32_t)product < threshold) product = (uint64_t)next_32(g) * n;
    }
    return (uint32_t)(product >> 32);
}

/* The ziggurat has 256 layers of equal area; layer 0 holds the tail beyond TAIL. */
#define TAIL 3.6541528853610088
static double width[256], height[256];
static uint64_t inside[256];

static void build_ziggurat(void) {
    double density = exp(-0.5 * TAIL * TAIL);
    double area = TAIL * density + sqrt(acos(-1.0) / 2) * erfc(TAIL / sqrt(2.0)), edge = TAIL;
    width[0] = area / density * 0x1p-52;
    inside[0] = (uint64_t)(TAIL * density / area * 0x1p52);
    height[0] = 1.0;
    for (int k = 255; k > 0; k--) {
        width[k] = edge * 0x1p-52;
        height[k] = exp(-0.5 * edge * edge);
        double next = k > 1 ? sqrt(-2.0 * log(area / edge + height[k])) : 0.0;
        inside[k] = (uint64_t)(next / edge * 0x1p52);
        edge = next;
    }
}

static double normal(Generator *g) {
    for (;;) {
        uint64_t bits = next_64(g), size = (bits >> 9) & 0x000fffffffffffffu;
        int layer = bits & 0xff;
        double x = (double)size * width[layer];
        if (bits & 0x100) x = -x;
        if (size < inside[layer]) return x;
        if (layer > 0) {
            double h = height[layer] + (height[layer - 1] - height[layer]) * next_unit(g);
            if (h < exp(-0.5 * x * x)) return x;
            continue;
        }
        for (;;) {
            double beyond = -log1p(-next_unit(g)) / TAIL, y = -log1p(-next_unit(g));
            if (y + y > beyond * beyond) return size & 0x100 ? -(TAIL + beyond) : TAIL + beyond;
        }
    }
}

/* --- the problem */

typedef struct {
    int64_t n, d, n_movable;
    const double *features, *labels;
    const int64_t *movable;
    double zeta, slope, kappa, cap;
} Problem;

static const double s = 0.5, cone = 1.0;

static double dot(const double *a, const double *b, int64_t size) {
    double total = 0.0;
    for (int64_t c = 0; c < size; c++) total += a[c] * b[c];
    return total;
}

static double score(const Problem *p, int64_t i, const double *theta) {
    double z = dot(p->features + i * p->d, theta, p->d), total = 0.0;
    if (p->labels[i] > 0) return z;
    for (int64_t m = 0; m < p->n_movable; m++) total += theta[p->movable[m]] * theta[p->movable[m]];
    return z + p->zeta * total;
}

static double value(const Problem *p, int64_t i, const double *theta, double alpha, double gamma) {
    double z = score(p, i, theta), phi = 0.5 * fabs(z) + log1p(exp(-fabs(z)));
    double pull = p->labels[i] > 0 ? gamma * (s * z - alpha * p->kappa) : s * z;
    return p->slope * alpha + phi + pull;
}

/* The derivatives of one sample with respect to theta, alpha and gamma_i. */
typedef struct {
    double *theta, alpha, gamma;
} Gradient;

static void exact_gradient(const Problem *p, int64_t i, const double *theta, double alpha,
                           double gamma, Gradient *g) {
    double z = score(p, i, theta), by_score = 0.5 * tanh(0.5 * z);
    int positive = p->labels[i] > 0;
    by_score += positive ? gamma * s : s;
    g->alpha = p->slope - (positive ? gamma * p->kappa : 0.0);
    g->gamma = positive ? s * z - alpha * p->kappa : 0.0;
    const double *row = p->features + i * p->d;
    for (int64_t c = 0; c < p->d; c++) g->theta[c] = by_score * row[c];
    if (positive) return;
    for (int64_t m = 0; m < p->n_movable; m++) {
        int64_t c = p->movable[m];
        g->theta[c] += by_score * 2.0 * p->zeta * theta[c];
    }
}

/* Overwrites (theta, alpha) with the nearest point of the cone |theta| <= alpha / cone with
   alpha <= cap. */
static void project(double *theta, double *alpha, int64_t d, double cap) {
    double length = sqrt(dot(theta, theta, d)), shrunk = length;
    if (length > *alpha / cone) {
        shrunk = *alpha <= -length / cone ? 0.0 : (length + cone * *alpha) / (1.0 + cone * cone);
        *alpha = cone * shrunk;
    }
    if (*alpha > cap) {
        *alpha = cap;
        shrunk = fmin(length, cap / cone);
    }
    if (shrunk < length)
        for (int64_t c = 0; c < d; c++) theta[c] *= shrunk / length;
}

/* --- the method */

enum { ONE_POINT, TWO_POINT, ENVELOPE };

typedef struct {
    int64_t estimate, optimistic, epochs;
    double gamma_scale;
    const double *etas, *radii;
} Method;

/* gamma_i and its sum of eta gamma_i, which is updated only when gamma_i changes. */
typedef struct {
    double now, total, mark;
} Gamma;

static void move_gamma(Gamma *gamma, double by, double weight) {
    gamma->total += gamma->now * (weight - gamma->mark);
    gamma->mark = weight;
    gamma->now = fmin(fmax(gamma->now + by, -1.0), 1.0);
}

/* Estimates one sample's gradient at (theta, alpha) from the value at the deployed point. */
static void estimate(const Problem *p, const Method *m, int64_t i, const double *theta,
                     double alpha, double gamma, const double *point, const double *v,
                     double radius, Gradient *g) {
    if (m->estimate == ENVELOPE || p->labels[i] > 0) {
        exact_gradient(p, i, theta, alpha, gamma, g);
        return;
    }
    double change = value(p, i, point, alpha, gamma);
    if (m->estimate == TWO_POINT) change -= value(p, i, theta, alpha, gamma);
    double gain = (double)p->d / radius * change;
    for (int64_t c = 0; c < p->d; c++) g->theta[c] = gain * v[c];
    g->alpha = p->slope;
    g->gamma = 0.0;
}

static void shuffle(int64_t *order, int64_t n, Generator *rng) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = uniform_int(rng, (uint32_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Runs all epochs from (x, y) and overwrites both with the averages. x is (theta, alpha). */
void run(const Problem *p, const Method *m, const uint64_t seed[4], double *x, double *y) {
    int64_t n = p->n, d = p->d, before = -1;
    Generator rng = {((uint128)seed[0] << 64) | seed[1], ((uint128)seed[2] << 64) | seed[3], 0, 0};
    int64_t *order = malloc(n * sizeof *order);
    Gamma *gamma = malloc(n * sizeof *gamma);
    double *theta = x, *alpha = x + d, *total = calloc(6 * d + 1, sizeof *total), weight = 0.0;
    double *v = total + d + 1, *point = v + d;
    Gradient new = {point + d, 0, 0}, old = {point + 2 * d, 0, 0}, kept = {point + 3 * d, 0, 0};
    build_ziggurat();
    for (int64_t i = 0; i < n; i++) gamma[i] = (Gamma){y[i], 0.0, 0.0};

    for (int64_t t = 0; t < m->epochs; t++) {
        double eta = m->etas[t], radius = m->radii[t], up = eta * m->gamma_scale;
        shuffle(order, n, &rng);
        for (int64_t k = 0; k < n; k++) {
            int64_t now = order[k];
            int looks_back = m->optimistic && before >= 0;
            int asks = p->labels[now] < 0 || (looks_back && p->labels[before] < 0);
            if (asks && m->estimate != ENVELOPE) {
                for (int64_t c = 0; c < d; c++) v[c] = normal(&rng);
                double length = sqrt(dot(v, v, d));
                for (int64_t c = 0; c < d; c++) {
                    v[c] /= length;
                    point[c] = theta[c] + radius * v[c];
                }
            }
            estimate(p, m, now, theta, *alpha, gamma[now].now, point, v, radius, &new);
            if (looks_back) {
                estimate(p, m, before, theta, *alpha, gamma[before].now, point, v, radius, &old);
                for (int64_t c = 0; c < d; c++)
                    theta[c] -= eta * (new.theta[c] + old.theta[c] - kept.theta[c]);
                *alpha -= eta * (new.alpha + old.alpha - kept.alpha);
            } else {
                for (int64_t c = 0; c < d; c++) theta[c] -= eta * new.theta[c];
                *alpha -= eta * new.alpha;
            }
            project(theta, alpha, d, p->cap);
            move_gamma(&gamma[now], up * new.gamma, weight);
            if (looks_back) move_gamma(&gamma[before], up * (old.gamma - kept.gamma), weight);
            weight += eta;
            for (int64_t c = 0; c < d + 1; c++) total[c] += eta * x[c];
            Gradient swap = kept;
            kept = new;
            new = swap;
            before = now;
        }
    }
    for (int64_t c = 0; c < d + 1; c++) x[c] = total[c] / weight;
    for (int64_t i = 0; i < n; i++)
        y[i] = (gamma[i].total + gamma[i].now * (weight - gamma[i].mark)) / weight;
    free(order);
    free(gamma);
    free(total);
}

/* Measures memory access alone: visits the agents in the given order, reads one number of every
   cache line that a step reads and writes what a step writes, with prefetching. */
double touch(const Problem *p, const uint32_t *order, const int8_t *labels, Gamma *gamma) {
    enum { AHEAD = 12, LINE = 8 };
    double total = 0.0;
    for (int64_t k = 0; k < p->n; k++) {
        if (k + AHEAD < p->n) {
            int64_t next = order[k + AHEAD];
            for (int64_t c = 0; c < p->d; c += LINE)
                __builtin_prefetch(p->features + next * p->d + c);
            __builtin_prefetch(labels + next);
            __builtin_prefetch(gamma + next);
        }
        int64_t i = order[k];
        const double *row = p->features + i * p->d;
        for (int64_t c = 0; c < p->d; c += LINE) total += row[c];
        gamma[i].total += labels[i];
        gamma[i].mark = total;
    }
    return total;
}
