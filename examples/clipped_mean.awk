# The clipped noisy mean (P2, Algorithm 2) as a program that answers audits and some vectors, in POSIX awk.
#
#     tailproof audit --command 'awk -f examples/clipped_mean.awk' --claim 'zcdp(rho=0.5)' --records 10 --columns 2
#     tailproof vectors check --command 'awk -f examples/clipped_mean.awk'
#
# `-v bug=unclipped` leaves out the clipping, `-v bug=halved` halves the noise.  awk's rand() is for tests: real noise needs a
# cryptographic generator.

# --- reading JSON: V[path] is a scalar, N[path] the length of a list; the path of {"a": [5]}'s five is "/a/0" -----------------
function skip() { while (substr(text, at, 1) ~ /[ \t]/) at++ }
function string(  from, c) {  # without escapes but \x for x: keys and names have no others
    from = ++at
    while ((c = substr(text, at, 1)) != "\"") at += (c == "\\") ? 2 : 1
    return substr(text, from, at++ - from)
}
function value(path,  c, count, key) {
    skip(); c = substr(text, at, 1)
    if (c == "{") {
        at++; skip()
        while (substr(text, at, 1) != "}") {
            skip(); key = string(); skip(); at++
            value(path "/" key); skip()
            if (substr(text, at, 1) == ",") at++
            skip()
        }
        at++; V[path] = "{}"
    } else if (c == "[") {
        at++; skip(); count = 0
        while (substr(text, at, 1) != "]") {
            value(path "/" count++); skip()
            if (substr(text, at, 1) == ",") at++
            skip()
        }
        at++; N[path] = count; V[path] = "[]"
    } else if (c == "\"") V[path] = string()
    else {
        match(substr(text, at, 64), /^[-+0-9.eEa-z]+/)
        V[path] = substr(text, at, RLENGTH); at += RLENGTH
    }
}

# --- the mechanism ------------------------------------------------------------------------------------------------------------
function magnitude(x) { return x < 0 ? -x : x }
function length_of(path, d,  j, most, sum) {  # of a vector, also where squares overflow
    most = 0
    for (j = 0; j < d; j++) if (magnitude(V[path "/" j] + 0) > most) most = magnitude(V[path "/" j] + 0)
    if (most == 0) return 0
    sum = 0
    for (j = 0; j < d; j++) sum += (V[path "/" j] / most) * (V[path "/" j] / most)
    return most * sqrt(sum)
}
function clip_rows(path, radius,  i, j, size) {  # R[i, j], M[j], n and d
    n = N[path]; d = N[path "/0"]
    for (j = 0; j < d; j++) M[j] = 0
    for (i = 0; i < n; i++) {
        size = length_of(path "/" i, d)
        for (j = 0; j < d; j++) {
            R[i, j] = V[path "/" i "/" j] + 0
            if (size > radius && bug != "unclipped") R[i, j] = R[i, j] / size * radius
            M[j] += R[i, j] / n
        }
    }
}
function cut_rows(path, bound,  i, j, x) {
    n = N[path]; d = N[path "/0"]
    for (j = 0; j < d; j++) M[j] = 0
    for (i = 0; i < n; i++) for (j = 0; j < d; j++) {
        x = V[path "/" i "/" j] + 0
        R[i, j] = (magnitude(x) <= bound) ? x : 0
        M[j] += R[i, j] / n
    }
}
function gaussian() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
function number(x) { return sprintf("%.17g", x) }
function parameter(name, usual) { return (("/parameters/" name) in V) ? V["/parameters/" name] + 0 : usual }

function runs(  clip, scale, k, j, out) {
    clip = parameter("clip", 1)
    clip_rows("/data", clip)
    scale = 2 * clip / n / sqrt(2 * parameter("rho", 0.5))
    if (bug == "halved") scale /= 2
    srand(V["/seed"] % 2147483647)
    out = ""
    for (k = 0; k < V["/size"] + 0; k++) {
        out = out (k ? ",[" : "[")
        for (j = 0; j < d; j++) out = out (j ? "," : "") number(M[j] + scale * gaussian())
        out = out "]"
    }
    return "{\"outputs\":[" out "]}"
}

# --- vectors ------------------------------------------------------------------------------------------------------------------
function rows_and_mean(  i, j, out) {
    out = "{\"outputs\":{\"rows\":["
    for (i = 0; i < n; i++) {
        out = out (i ? ",[" : "[")
        for (j = 0; j < d; j++) out = out (j ? "," : "") number(R[i, j])
        out = out "]"
    }
    out = out "],\"mean\":["
    for (j = 0; j < d; j++) out = out (j ? "," : "") number(M[j])
    return out "]}}"
}
function calibrated(  rule, D, e) {
    rule = V["/inputs/rule"]; D = V["/inputs/sensitivity"]; e = V["/inputs/epsilon"]
    if (rule == "gaussian zcdp") return D / sqrt(2 * V["/inputs/rho"])
    if (rule == "l2-laplace") return D / e
    if (rule == "gaussian classical") return D * sqrt(2 * log(1.25 / V["/inputs/delta"])) / e
    if (rule == "P0 Definition 3") return 4 * D * sqrt(log(1 / V["/inputs/delta"])) / e
    return -1
}
function reply(  kind, x) {
    if (!("/kind" in V)) return runs()
    kind = V["/kind"]
    if (kind == "clipping") { clip_rows("/inputs/data", V["/inputs/clip"] + 0); return rows_and_mean() }
    if (kind == "truncation") { cut_rows("/inputs/data", V["/inputs/bound"] + 0); return rows_and_mean() }
    if (kind == "calibration" && (x = calibrated()) >= 0) return "{\"outputs\":{\"value\":" number(x) "}}"
    return "{\"unsupported\":\"" kind "\"}"
}

BEGIN {
    # By the shell, for some awks read standard input in blocks and would wait for more than one request.
    one_line = "IFS= read -r line && printf '%s\\n' \"$line\""
    while ((one_line | getline text) > 0) {
        close(one_line)
        split("", V); split("", N); split("", R); split("", M)
        at = 1
        value("")
        print reply()
        fflush()
    }
}
