/* The clipped noisy mean (P2, Algorithm 2) as a program that answers audits and some vectors, in C99 and POSIX.

       cc -O2 -o clipped_mean examples/clipped_mean.c -lm
       tailproof audit --command ./clipped_mean --claim 'zcdp(rho=0.5)' --records 10 --columns 2
       tailproof vectors check --command ./clipped_mean

   An argument breaks it on purpose: `unclipped` leaves out the clipping, `halved` halves the noise.
   The generator is for tests: real noise needs a cryptographic one. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading JSON: a value is text, a number, or a list of values, with keys if it is an object ------------------------- */

typedef struct Value {
    enum { TEXT, NUMBER, LIST, OBJECT, WORD } type;
    double number;
    char *text, *key;
    struct Value *first, *next;
    int count;
} Value;

static const char *at;

static void fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void *need(void *memory) {
    if (!memory) fail("out of memory");
    return memory;
}

static void skip(void) { at += strspn(at, " \t\r\n"); }

static char *string(void) { /* "\x" becomes x: keys and names have no other escapes */
    char *out = need(malloc(strlen(at) + 1)), *end = out;
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++;
        *end++ = *at;
    }
    if (*at++ != '"') fail("a string does not end");
    *end = 0;
    return out;
}

static Value *value(void) {
    Value *v = need(calloc(1, sizeof *v)), **last = &v->first;
    skip();
    if (*at == '{' || *at == '[') {
        char closing = *at == '{' ? '}' : ']';
        v->type = *at++ == '{' ? OBJECT : LIST;
        for (skip(); *at != closing; skip()) {
            char *key = NULL;
            if (v->type == OBJECT) {
                if (*at != '"') fail("a key is missing");
                key = string();
                skip();
                if (*at++ != ':') fail("a colon is missing");
            }
            *last = value();
            (*last)->key = key;
            last = &(*last)->next;
            v->count++;
            skip();
            if (*at == ',') at++;
            else if (*at != closing) fail("a list or an object does not end");
            skip();
        }
        at++;
    } else if (*at == '"') {
        v->type = TEXT;
        v->text = string();
    } else if (strchr("-0123456789", *at) && *at) {
        char *end;
        v->type = NUMBER;
        v->number = strtod(at, &end);
        at = end;
    } else {
        static const char *words[] = {"true", "false", "null"};
        int k = 0;
        while (k < 3 && strncmp(at, words[k], strlen(words[k]))) k++;
        if (k == 3) fail("not JSON");
        v->type = WORD;
        at += strlen(words[k]);
    }
    return v;
}

static void discard(Value *v) {
    while (v) {
        Value *next = v->next;
        discard(v->first);
        free(v->text);
        free(v->key);
        free(v);
        v = next;
    }
}

static Value *get(const Value *v, const char *key) {
    for (Value *part = v ? v->first : NULL; part; part = part->next)
        if (part->key && !strcmp(part->key, key)) return part;
    return NULL;
}

static double number(const Value *v, const char *key, double usual) {
    const Value *part = get(v, key);
    return part && part->type == NUMBER ? part->number : usual;
}

static int is(const Value *v, const char *key, const char *text) {
    const Value *part = get(v, key);
    return part && part->text && !strcmp(part->text, text);
}

/* --- the mechanism ------------------------------------------------------------------------------------------------------ */

static const char *bug = "";

typedef struct {
    int n, d;
    double *rows, *mean;
} Table;

static Table table(const Value *data) {
    Table t = {data ? data->count : 0, data && data->first ? data->first->count : 0, NULL, NULL};
    if (!t.n || !t.d) fail("there are no data");
    t.rows = need(calloc((size_t)t.n * t.d, sizeof(double)));
    t.mean = need(calloc((size_t)t.d, sizeof(double)));
    double *x = t.rows;
    for (const Value *row = data->first; row; row = row->next) {
        if (row->count != t.d) fail("records differ in length");
        for (const Value *entry = row->first; entry; entry = entry->next) *x++ = entry->number;
    }
    return t;
}

static void average(Table *t) {
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->d; j++) t->mean[j] += t->rows[i * t->d + j] / t->n;
}

static void clip(Table *t, double radius) { /* hypot does not overflow where squares would */
    for (int i = 0; i < t->n; i++) {
        double length = 0, *row = t->rows + i * t->d;
        for (int j = 0; j < t->d; j++) length = hypot(length, row[j]);
        if (length > radius && strcmp(bug, "unclipped"))
            for (int j = 0; j < t->d; j++) row[j] = row[j] / length * radius;
    }
    average(t);
}

static void truncate_entries(Table *t, double bound) {
    for (int k = 0; k < t->n * t->d; k++)
        if (fabs(t->rows[k]) > bound) t->rows[k] = 0;
    average(t);
}

static double noise_scale(int n, double radius, double rho) { /* Δ/√(2ρ), Δ = 2C/n */
    double scale = 2 * radius / n / sqrt(2 * rho);
    return strcmp(bug, "halved") ? scale : scale / 2;
}

static uint64_t state;

static double uniform(void) { /* splitmix64; in (0, 1) */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((z >> 11) + 0.5) / 9007199254740992.0;
}

static double gaussian(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

static void vector(const double *x, int d) {
    for (int j = 0; j < d; j++) printf("%s%.17g", j ? "," : "[", x[j]);
    printf("]");
}

static void runs(const Value *request) {
    const Value *parameters = get(request, "parameters");
    double radius = number(parameters, "clip", 1), rho = number(parameters, "rho", 0.5);
    Table t = table(get(request, "data"));
    int size = (int)number(request, "size", 0);
    clip(&t, radius);
    double scale = noise_scale(t.n, radius, rho), *out = need(calloc((size_t)t.d, sizeof(double)));
    state = (uint64_t)number(request, "seed", 0);
    printf("{\"outputs\":[");
    for (int k = 0; k < size; k++) {
        for (int j = 0; j < t.d; j++) out[j] = t.mean[j] + scale * gaussian();
        if (k) printf(",");
        vector(out, t.d);
    }
    printf("]}\n");
    free(out);
    free(t.rows);
    free(t.mean);
}

/* --- vectors ------------------------------------------------------------------------------------------------------------ */

static void rows_and_mean(Table t) {
    printf("{\"outputs\":{\"rows\":[");
    for (int i = 0; i < t.n; i++) {
        if (i) printf(",");
        vector(t.rows + i * t.d, t.d);
    }
    printf("],\"mean\":");
    vector(t.mean, t.d);
    printf("}}\n");
    free(t.rows);
    free(t.mean);
}

static double calibrated(const Value *q) {
    double D = number(q, "sensitivity", 0), e = number(q, "epsilon", 0), delta = number(q, "delta", 0);
    if (is(q, "rule", "gaussian zcdp")) return D / sqrt(2 * number(q, "rho", 0));
    if (is(q, "rule", "l2-laplace")) return D / e;
    if (is(q, "rule", "gaussian classical")) return D * sqrt(2 * log(1.25 / delta)) / e;
    if (is(q, "rule", "P0 Definition 3")) return 4 * D * sqrt(log(1 / delta)) / e;
    return -1;
}

static void transcript(const Value *q) { /* of P2.A2: one release, published as it was drawn */
    const Value *p = get(q, "parameters"), *drawn = get(get(q, "outputs")->first, "value");
    double radius = number(p, "clip", 0), rho = number(p, "rho", 0);
    Table t = table(get(q, "data"));
    clip(&t, radius);
    printf("{\"outputs\":{\"names\":[\"mean\"],\"laws\":[\"Gaussian\"],\"rows\":[null],\"shapes\":[[]],\"locations\":[");
    vector(t.mean, t.d);
    printf("],\"scales\":[[%.17g]],\"sensitivities\":[{\"norm\":\"2\",\"value\":[%.17g],\"rate\":null}],",
           noise_scale(t.n, radius, rho), 2 * radius / t.n);
    printf("\"spends\":[{\"claim\":\"zcdp\",\"rho\":%.17g,\"neighbouring\":\"replace-one\"}],\"output\":[", rho);
    for (const Value *x = drawn->first; x; x = x->next) printf("%s%.17g", x == drawn->first ? "" : ",", x->number);
    printf("]}}\n");
    free(t.rows);
    free(t.mean);
}

static void answer(const Value *request) {
    const Value *q = get(request, "inputs");
    if (!get(request, "kind")) {
        runs(request);
    } else if (is(request, "kind", "clipping")) {
        Table t = table(get(q, "data"));
        clip(&t, number(q, "clip", 0));
        rows_and_mean(t);
    } else if (is(request, "kind", "truncation")) {
        Table t = table(get(q, "data"));
        truncate_entries(&t, number(q, "bound", 0));
        rows_and_mean(t);
    } else if (is(request, "kind", "calibration") && calibrated(q) >= 0) {
        printf("{\"outputs\":{\"value\":%.17g}}\n", calibrated(q));
    } else if (is(request, "kind", "transcript") && is(q, "algorithm", "P2.A2")) {
        transcript(q);
    } else {
        printf("{\"unsupported\":\"%s\"}\n", get(request, "kind")->text);
    }
    fflush(stdout);
}

int main(int count, char **arguments) {
    char *line = NULL;
    size_t room = 0;
    if (count > 1) bug = arguments[1];
    while (getline(&line, &room, stdin) > 0) {
        at = line;
        Value *request = value();
        answer(request);
        discard(request);
    }
    free(line);
    return 0;
}
