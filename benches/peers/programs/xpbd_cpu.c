/* xpbd_cpu.c -- tuned native CPU reference for the drape-N workload (see ../README.md).
 *
 * Coloured Gauss-Seidel XPBD on distance constraints, 12 colours, float32.
 * Four variants of the same arithmetic in the same colour order:
 *   scalar   indexed constraints {i,j,rest,alpha}, float4 particles, plain C
 *   avx512   the same data, 16 constraints at a time (load + 4x4 transposes + store)
 *   grid     no constraint data at all: indices, rest length and compliance follow from the grid;
 *            SoA rows, 16 lanes per instruction.  An upper bound for the colour-by-colour method on
 *            this CPU; it does not apply to general meshes.
 *   fused    as grid, and all 12 colours + the integration of one substep done in one pass over
 *            the rows (each stage a few rows behind the one before it), so data stay in L1/L2.
 *            The same result as grid, bit for bit.  Threads take substeps in turn and follow one another
 *            down the rows (point-to-point counters), so there are no barriers inside a frame.
 *
 * Build:  gcc -O3 -march=native -ffast-math -fopenmp xpbd_cpu.c -o xpbd_cpu -lm
 *         (clang works as well; without AVX-512 only 'scalar' is built)
 * Run:    ./xpbd_cpu --n 316 --variant avx512
 * Prints one JSON line.
 */
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#ifdef __AVX512F__
#include <immintrin.h>
#define HAVE_AVX512 1
#endif

/* ------------------------------------------------------------------ options */
static int    N = 316, SUBSTEPS = 20, ITERS = 1, FRAMES = 120, WARMUP = 5, THREADS = 0, LRA = 0;
static double A_STRUCT = 0.0, A_SHEAR = 1e-6, A_BEND = 1e-4, A_MIN = 0.0;   /* A_MIN: floor, in units of w h^2 */
static const char *INIT = "hang", *VARIANT = "avx512";
static const double SIZE = 2.0, RHO = 0.2, DT = 1.0 / 60.0, G = -9.81;

/* ------------------------------------------------------------------ helpers */
static double now_ms(void) {
    struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
/* -1 for non-finite values; tests the bits, since -ffast-math assumes finite numbers */
static double num(double v) {
    uint64_t bits; memcpy(&bits, &v, sizeof bits);
    return (bits >> 52 & 0x7ff) == 0x7ff ? -1.0 : v;
}
static double user_ms(void) {
    struct rusage u; getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec * 1e3 + u.ru_utime.tv_usec * 1e-3;
}
static void *xalloc(size_t b) {
    void *p = NULL; b = (b + 4095) & ~(size_t)4095;
    if (posix_memalign(&p, 4096, b)) { fprintf(stderr, "out of memory\n"); exit(2); }
    memset(p, 0, b); return p;
}
/* spin barrier (yields if the partner is descheduled) */
static atomic_int bar_count, bar_gen;
static inline void barrier(int nt) {
    if (nt == 1) return;
    int g = atomic_load_explicit(&bar_gen, memory_order_acquire);
    if (atomic_fetch_add_explicit(&bar_count, 1, memory_order_acq_rel) == nt - 1) {
        atomic_store_explicit(&bar_count, 0, memory_order_relaxed);
        atomic_store_explicit(&bar_gen, g + 1, memory_order_release);
    } else {
        int spins = 0;
        while (atomic_load_explicit(&bar_gen, memory_order_acquire) == g) {
            if (++spins > 2000) { sched_yield(); spins = 0; }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
}

/* ------------------------------------------------------------------ workload
 * Particle (r,c) has index r*N+c.  Colours, in solve order:
 *  0,1 structural horizontal (r,c)-(r,c+1),   colour by c&1
 *  2,3 structural vertical   (r,c)-(r+1,c),   colour by r&1
 *  4,5 shear '\'             (r,c)-(r+1,c+1), colour by r&1
 *  6,7 shear '/'             (r,c+1)-(r+1,c), colour by r&1
 *  8,9 bend horizontal       (r,c)-(r,c+2),   colour by (c>>1)&1
 * 10,11 bend vertical        (r,c)-(r+2,c),   colour by (r>>1)&1   */
typedef struct { float x, y, z, w; } P4;
static P4 *pos0;                                    /* initial positions + inverse mass */
static int *CI, *CJ; static float *CL, *CA;         /* colour-sorted constraints */
static long cstart[13]; static long NC;
static float rest_of[12], alpha_of[12];             /* alpha_of = compliance / h^2 */

static void build(int want_list) {
    const double s = SIZE / (N - 1), h = DT / SUBSTEPS;
    const double m = RHO * SIZE * SIZE / ((double)N * N);
    const double PI = 3.14159265358979323846;
    pos0 = xalloc(sizeof(P4) * (size_t)N * N);
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) {
        double u = (double)c / (N - 1), v = (double)r / (N - 1);
        double bump = 0.002 * sin(3 * PI * u) * sin(2 * PI * v);
        P4 *p = &pos0[(size_t)r * N + c];
        p->x = (float)(-0.5 * SIZE + c * s);
        if (!strcmp(INIT, "flat")) { p->y = (float)bump; p->z = (float)(r * s); }
        else                       { p->y = (float)(-r * s); p->z = (float)bump; }
        p->w = (float)(1.0 / m);
    }
    pos0[0].w = 0; pos0[N - 1].w = 0;
    for (int k = 0; k < 12; k++) {
        rest_of[k]  = (float)(k < 4 ? s : k < 8 ? s * sqrt(2.0) : 2 * s);
        alpha_of[k] = (float)fmax((k < 4 ? A_STRUCT : k < 8 ? A_SHEAR : A_BEND) / (h * h), A_MIN / m);
    }
    long total = 2L * N * (N - 1) + 2L * (N - 1) * (N - 1) + 2L * N * (N - 2);
    NC = total;
    if (want_list) {
        CI = xalloc(4 * (total + 64)); CJ = xalloc(4 * (total + 64));
        CL = xalloc(4 * (total + 64)); CA = xalloc(4 * (total + 64));
    }
    long q = 0;
    for (int k = 0; k < 12; k++) {
        cstart[k] = q;
        int dr = (k < 2 || k == 8 || k == 9) ? 0 : k < 8 ? 1 : 2;
        int dc = k < 2 ? 1 : k < 4 ? 0 : k < 6 ? 1 : k < 8 ? -1 : k < 10 ? 2 : 0;
        for (int r = 0; r + dr < N; r++) for (int c = (dc < 0 ? 1 : 0); c + (dc > 0 ? dc : 0) < N; c++) {
            int col = k < 2 ? (c & 1) : k < 8 ? (r & 1) : k < 10 ? ((c >> 1) & 1) : ((r >> 1) & 1);
            if (col != (k & 1)) continue;
            if (want_list) {
                CI[q] = 4 * (r * N + c); CJ[q] = 4 * ((r + dr) * N + c + dc);   /* offsets in floats */
                CL[q] = rest_of[k]; CA[q] = alpha_of[k];
            }
            q++;
        }
    }
    cstart[12] = q;
    if (q != total) { fprintf(stderr, "constraint count %ld != %ld\n", q, total); exit(2); }
}

/* split [a,b) over nt threads on multiples of 16 */
static inline void split(long a, long b, int t, int nt, long *lo, long *hi) {
    long n = b - a, per = ((n / nt) + 15) & ~15L;
    *lo = a + per * t; *hi = (t == nt - 1) ? b : a + per * (t + 1);
    if (*lo > b) *lo = b;
    if (*hi > b) *hi = b;
}

/* ------------------------------------------------------------------ indexed variants */
static P4 *X, *PREV;
static inline void predict_range(long lo, long hi, float gh2) {
    for (long i = lo; i < hi; i++) {               /* v = (x-prev)/h + g h; prev = x; x += v h */
        P4 x = X[i], p = PREV[i]; float on = x.w > 0 ? 1.f : 0.f;
        PREV[i] = x;
        x.x += on * (x.x - p.x); x.y += on * (x.y - p.y + gh2); x.z += on * (x.z - p.z);
        X[i] = x;
    }
}
static inline void solve_one(long q) {
    P4 *a = (P4 *)((float *)X + CI[q]), *b = (P4 *)((float *)X + CJ[q]);
    float dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
    float l2 = dx * dx + dy * dy + dz * dz;
    float len = sqrtf(l2);
    float s = (len - CL[q]) / (fmaxf(len, 1e-12f) * fmaxf(a->w + b->w + CA[q], 1e-20f));
    float sa = a->w * s, sb = b->w * s;
    a->x -= sa * dx; a->y -= sa * dy; a->z -= sa * dz;
    b->x += sb * dx; b->y += sb * dy; b->z += sb * dz;
}
static void solve_scalar(long lo, long hi) { for (long q = lo; q < hi; q++) solve_one(q); }

/* Long range attachment: a particle may not be further from its nearer pinned corner than it is at rest.
 * Each constraint moves one particle only, so the pass is parallel and needs no colour. */
static float *LD; static int *LP;
static void lra_setup(void) {
    double s = SIZE / (N - 1); LD = xalloc(4 * (size_t)N * N); LP = xalloc(4 * (size_t)N * N);
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) {
        int pc = c <= (N - 1) / 2 ? 0 : N - 1; size_t i = (size_t)r * N + c;
        LP[i] = pc; LD[i] = (float)(s * sqrt((double)r * r + (double)(c - pc) * (c - pc)));
    }
}
static void lra_range(long lo, long hi) {
    for (long i = lo; i < hi; i++) {
        P4 x = X[i], p = X[LP[i]]; float dx = x.x - p.x, dy = x.y - p.y, dz = x.z - p.z;
        float l2 = dx * dx + dy * dy + dz * dz, d = LD[i];
        if (x.w > 0 && l2 > d * d) {
            float f = d / sqrtf(l2);
            X[i].x = p.x + f * dx; X[i].y = p.y + f * dy; X[i].z = p.z + f * dz;
        }
    }
}

#ifdef HAVE_AVX512
typedef __m512 V;
#define ADD(a,b) _mm512_add_ps(a,b)
#define SUB(a,b) _mm512_sub_ps(a,b)
#define MUL(a,b) _mm512_mul_ps(a,b)
#define FMA(a,b,c) _mm512_fmadd_ps(a,b,c)
#define FNMA(a,b,c) _mm512_fnmadd_ps(a,b,c)
#define SET1(a) _mm512_set1_ps(a)

/* s = (1 - L/len) / W with one Newton step on each reciprocal (relative error ~ 1e-7) */
static inline V scale16(V dx, V dy, V dz, V L, V W) {
    V l2 = FMA(dx, dx, FMA(dy, dy, MUL(dz, dz)));
    l2 = _mm512_max_ps(l2, SET1(1e-24f));
    V y = _mm512_rsqrt14_ps(l2);
    V hy = MUL(MUL(l2, y), y);                                  /* y += y*(0.5 - 0.5*l2*y*y) */
    y = FMA(MUL(y, SET1(0.5f)), SUB(SET1(1.f), hy), y);
    W = _mm512_max_ps(W, SET1(1e-20f));
    V r = _mm512_rcp14_ps(W);
    r = FMA(r, FNMA(W, r, SET1(1.f)), r);
    return MUL(FNMA(L, y, SET1(1.f)), r);
}
static inline V ld4(const float *p, const int *ix) {
    V v = _mm512_castps128_ps512(_mm_load_ps(p + (long)ix[0]));
    v = _mm512_insertf32x4(v, _mm_load_ps(p + (long)ix[4]), 1);
    v = _mm512_insertf32x4(v, _mm_load_ps(p + (long)ix[8]), 2);
    return _mm512_insertf32x4(v, _mm_load_ps(p + (long)ix[12]), 3);
}
static inline void st4(float *p, const int *ix, V v) {
    _mm_store_ps(p + (long)ix[0], _mm512_castps512_ps128(v));
    _mm_store_ps(p + (long)ix[4], _mm512_extractf32x4_ps(v, 1));
    _mm_store_ps(p + (long)ix[8], _mm512_extractf32x4_ps(v, 2));
    _mm_store_ps(p + (long)ix[12], _mm512_extractf32x4_ps(v, 3));
}
#define PD(a) _mm512_castps_pd(a)
#define PS(a) _mm512_castpd_ps(a)
static inline void tr4(V a, V b, V c, V d, V *o0, V *o1, V *o2, V *o3) {
    V t0 = _mm512_unpacklo_ps(a, b), t1 = _mm512_unpackhi_ps(a, b);
    V t2 = _mm512_unpacklo_ps(c, d), t3 = _mm512_unpackhi_ps(c, d);
    *o0 = PS(_mm512_unpacklo_pd(PD(t0), PD(t2))); *o1 = PS(_mm512_unpackhi_pd(PD(t0), PD(t2)));
    *o2 = PS(_mm512_unpacklo_pd(PD(t1), PD(t3))); *o3 = PS(_mm512_unpackhi_pd(PD(t1), PD(t3)));
}
static void solve_avx512(long lo, long hi) {
    float *p = (float *)X; long q = lo;
    for (; q + 16 <= hi; q += 16) {
        const int *i = CI + q, *j = CJ + q;
        V ax, ay, az, aw, bx, by, bz, bw;
        tr4(ld4(p, i), ld4(p, i + 1), ld4(p, i + 2), ld4(p, i + 3), &ax, &ay, &az, &aw);
        tr4(ld4(p, j), ld4(p, j + 1), ld4(p, j + 2), ld4(p, j + 3), &bx, &by, &bz, &bw);
        V dx = SUB(ax, bx), dy = SUB(ay, by), dz = SUB(az, bz);
        V s = scale16(dx, dy, dz, _mm512_loadu_ps(CL + q), ADD(ADD(aw, bw), _mm512_loadu_ps(CA + q)));
        V sa = MUL(s, aw), sb = MUL(s, bw), o0, o1, o2, o3;
        ax = FNMA(sa, dx, ax); ay = FNMA(sa, dy, ay); az = FNMA(sa, dz, az);
        bx = FMA(sb, dx, bx);  by = FMA(sb, dy, by);  bz = FMA(sb, dz, bz);
        tr4(ax, ay, az, aw, &o0, &o1, &o2, &o3);
        st4(p, i, o0); st4(p, i + 1, o1); st4(p, i + 2, o2); st4(p, i + 3, o3);
        tr4(bx, by, bz, bw, &o0, &o1, &o2, &o3);
        st4(p, j, o0); st4(p, j + 1, o1); st4(p, j + 2, o2); st4(p, j + 3, o3);
    }
    for (; q < hi; q++) solve_one(q);
}

/* ------------------------------------------------------------------ grid variants (SoA rows) */
static int NS;                                      /* row stride in floats, multiple of 16, >= N+48 */
static float *GX, *GY, *GZ, *GW, *PX, *PY, *PZ;     /* positions, inverse mass, previous positions */
static __m512i IDX_A[2], IDX_B[2], IDX_LO[2], IDX_HI[2];
static void grid_setup(void) {
    NS = ((N + 15) & ~15) + 48;
    /* A row stride that is a multiple of 4 KiB would alias in L1; nudge it. */
    if ((NS * 4) % 4096 == 0) NS += 16;
    size_t b = sizeof(float) * (size_t)NS * (N + 2);
    float **all[7] = {&GX, &GY, &GZ, &GW, &PX, &PY, &PZ};
    for (int k = 0; k < 7; k++) *all[k] = (float *)((char *)xalloc(b + 4096) + 64 * 5 * k);
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) {
        size_t g = (size_t)r * NS + c; P4 p = pos0[(size_t)r * N + c];
        GX[g] = PX[g] = p.x; GY[g] = PY[g] = p.y; GZ[g] = PZ[g] = p.z; GW[g] = p.w;
    }
    /* stride 1: pairs (0,1)(2,3)...   stride 2: pairs (0,2)(1,3)(4,6)(5,7)...  within 32 columns */
    for (int st = 0; st < 2; st++) {
        int a[16], bb[16], lo[16], hi[16];
        for (int k = 0; k < 16; k++) {
            a[k] = st == 0 ? 2 * k : (k >> 1) * 4 + (k & 1);
            bb[k] = a[k] + (st == 0 ? 1 : 2);
        }
        for (int c = 0; c < 16; c++) {
            for (int k = 0; k < 16; k++) {
                if (a[k] == c) lo[c] = k;
                if (bb[k] == c) lo[c] = 16 + k;
                if (a[k] == 16 + c) hi[c] = k;
                if (bb[k] == 16 + c) hi[c] = 16 + k;
            }
        }
        IDX_A[st] = _mm512_loadu_si512(a);   IDX_B[st] = _mm512_loadu_si512(bb);
        IDX_LO[st] = _mm512_loadu_si512(lo); IDX_HI[st] = _mm512_loadu_si512(hi);
    }
}
static inline void g_predict(int r, float gh2) {
    long o = (long)r * NS; V g = SET1(gh2);
    for (int c = 0; c < N; c += 16, o += 16) {
        __mmask16 on = _mm512_cmp_ps_mask(_mm512_loadu_ps(GW + o), _mm512_setzero_ps(), _CMP_GT_OQ);
        V x = _mm512_loadu_ps(GX + o), y = _mm512_loadu_ps(GY + o), z = _mm512_loadu_ps(GZ + o);
        V p = _mm512_loadu_ps(PX + o), q = _mm512_loadu_ps(PY + o), s = _mm512_loadu_ps(PZ + o);
        _mm512_storeu_ps(PX + o, x); _mm512_storeu_ps(PY + o, y); _mm512_storeu_ps(PZ + o, z);
        _mm512_storeu_ps(GX + o, _mm512_mask_add_ps(x, on, x, SUB(x, p)));
        _mm512_storeu_ps(GY + o, _mm512_mask_add_ps(y, on, y, ADD(SUB(y, q), g)));
        _mm512_storeu_ps(GZ + o, _mm512_mask_add_ps(z, on, z, SUB(z, s)));
    }
}
/* pairs inside one row; st 0: (c,c+1), st 1: (c,c+2); first column off */
static inline void g_row(int r, int st, int off, float L, float A) {
    const V vL = SET1(L), vA = SET1(A);
    const __m512i ia = IDX_A[st], ib = IDX_B[st], il = IDX_LO[st], ih = IDX_HI[st];
    long base = (long)r * NS;
    for (int c = off; c < N - 1 - st; c += 32) {
        long o = base + c;
        V x0 = _mm512_loadu_ps(GX + o), x1 = _mm512_loadu_ps(GX + o + 16);
        V y0 = _mm512_loadu_ps(GY + o), y1 = _mm512_loadu_ps(GY + o + 16);
        V z0 = _mm512_loadu_ps(GZ + o), z1 = _mm512_loadu_ps(GZ + o + 16);
        V w0 = _mm512_loadu_ps(GW + o), w1 = _mm512_loadu_ps(GW + o + 16);
        V ax = _mm512_permutex2var_ps(x0, ia, x1), bx = _mm512_permutex2var_ps(x0, ib, x1);
        V ay = _mm512_permutex2var_ps(y0, ia, y1), by = _mm512_permutex2var_ps(y0, ib, y1);
        V az = _mm512_permutex2var_ps(z0, ia, z1), bz = _mm512_permutex2var_ps(z0, ib, z1);
        V aw = _mm512_permutex2var_ps(w0, ia, w1), bw = _mm512_permutex2var_ps(w0, ib, w1);
        V dx = SUB(ax, bx), dy = SUB(ay, by), dz = SUB(az, bz);
        V s = scale16(dx, dy, dz, vL, ADD(ADD(aw, bw), vA));
        __mmask16 m = _mm512_cmplt_epi32_mask(_mm512_add_epi32(ib, _mm512_set1_epi32(c)), _mm512_set1_epi32(N));
        s = _mm512_maskz_mov_ps(m, s);
        V sa = MUL(s, aw), sb = MUL(s, bw);
        ax = FNMA(sa, dx, ax); ay = FNMA(sa, dy, ay); az = FNMA(sa, dz, az);
        bx = FMA(sb, dx, bx);  by = FMA(sb, dy, by);  bz = FMA(sb, dz, bz);
        _mm512_storeu_ps(GX + o, _mm512_permutex2var_ps(ax, il, bx)); _mm512_storeu_ps(GX + o + 16, _mm512_permutex2var_ps(ax, ih, bx));
        _mm512_storeu_ps(GY + o, _mm512_permutex2var_ps(ay, il, by)); _mm512_storeu_ps(GY + o + 16, _mm512_permutex2var_ps(ay, ih, by));
        _mm512_storeu_ps(GZ + o, _mm512_permutex2var_ps(az, il, bz)); _mm512_storeu_ps(GZ + o + 16, _mm512_permutex2var_ps(az, ih, bz));
    }
}
/* pairs between row r (column c+ca) and row r+dr (column c+cb), c = 0..cnt-1 */
static inline void g_rows(int r, int dr, int ca, int cb, int cnt, float L, float A) {
    const V vL = SET1(L), vA = SET1(A);
    long oa = (long)r * NS + ca, ob = (long)(r + dr) * NS + cb;
    for (int c = 0; c < cnt; c += 16, oa += 16, ob += 16) {
        __mmask16 m = cnt - c >= 16 ? 0xffff : (__mmask16)((1u << (cnt - c)) - 1);
        V ax = _mm512_loadu_ps(GX + oa), bx = _mm512_loadu_ps(GX + ob);
        V ay = _mm512_loadu_ps(GY + oa), by = _mm512_loadu_ps(GY + ob);
        V az = _mm512_loadu_ps(GZ + oa), bz = _mm512_loadu_ps(GZ + ob);
        V aw = _mm512_loadu_ps(GW + oa), bw = _mm512_loadu_ps(GW + ob);
        V dx = SUB(ax, bx), dy = SUB(ay, by), dz = SUB(az, bz);
        V s = _mm512_maskz_mov_ps(m, scale16(dx, dy, dz, vL, ADD(ADD(aw, bw), vA)));
        V sa = MUL(s, aw), sb = MUL(s, bw);
        _mm512_storeu_ps(GX + oa, FNMA(sa, dx, ax)); _mm512_storeu_ps(GY + oa, FNMA(sa, dy, ay)); _mm512_storeu_ps(GZ + oa, FNMA(sa, dz, az));
        _mm512_storeu_ps(GX + ob, FMA(sb, dx, bx));  _mm512_storeu_ps(GY + ob, FMA(sb, dy, by));  _mm512_storeu_ps(GZ + ob, FMA(sb, dz, bz));
    }
}
/* colour k for the row (or row pair) starting at r; returns without work if r is not in the colour */
static inline void g_colour_row(int k, int r) {
    const float L = rest_of[k], A = alpha_of[k]; const int p = k & 1;
    switch (k >> 1) {
    case 0: if (r < N) g_row(r, 0, p, L, A); break;
    case 1: if (r + 1 < N && (r & 1) == p) g_rows(r, 1, 0, 0, N, L, A); break;
    case 2: if (r + 1 < N && (r & 1) == p) g_rows(r, 1, 0, 1, N - 1, L, A); break;
    case 3: if (r + 1 < N && (r & 1) == p) g_rows(r, 1, 1, 0, N - 1, L, A); break;
    case 4: if (r < N) g_row(r, 1, 2 * p, L, A); break;
    case 5: if (r + 2 < N && ((r >> 1) & 1) == p) g_rows(r, 2, 0, 0, N, L, A); break;
    }
}
#endif

/* ------------------------------------------------------------------ frame drivers */
static void frame_indexed(int t, int nt, void (*solve)(long, long)) {
    const float gh2 = (float)(G * (DT / SUBSTEPS) * (DT / SUBSTEPS));
    long lo, hi;
    for (int s = 0; s < SUBSTEPS; s++) {
        split(0, (long)N * N, t, nt, &lo, &hi); predict_range(lo, hi, gh2); barrier(nt);
        for (int it = 0; it < ITERS; it++)
            for (int k = 0; k < 12; k++) { split(cstart[k], cstart[k + 1], t, nt, &lo, &hi); solve(lo, hi); barrier(nt); }
        if (LRA) { split(0, (long)N * N, t, nt, &lo, &hi); lra_range(lo, hi); barrier(nt); }
    }
}
#ifdef HAVE_AVX512
static void frame_grid(int t, int nt) {
    const float gh2 = (float)(G * (DT / SUBSTEPS) * (DT / SUBSTEPS));
    int lo = (int)((long)N * t / nt) & ~3, hi = t == nt - 1 ? N : (int)((long)N * (t + 1) / nt) & ~3;
    for (int s = 0; s < SUBSTEPS; s++) {
        for (int r = lo; r < hi; r++) g_predict(r, gh2);
        barrier(nt);
        for (int it = 0; it < ITERS; it++)
            for (int k = 0; k < 12; k++) { for (int r = lo; r < hi; r++) g_colour_row(k, r); barrier(nt); }
    }
}
/* fused: one sweep over the rows per substep, all stages (integration + 12 colours) in flight.
 * While the front is at row f, stage k works on row f - D[k].  A constraint of stage k starting at row r reaches
 * down to row r + reach[k], and everything stage k-1 does to rows <= r + reach[k] must have been done before:
 * constraints of stage k-1 starting at rows <= r + reach[k] must have run, hence D[k] = D[k-1] + reach[k].
 * Conversely, the remaining constraints of stage k-1 start below r + reach[k], so they touch no row that stage k has
 * already changed. */
static int D[13];
static void fused_setup(void) {
    int reach[13] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 2, 2};
    D[0] = 0; for (int k = 1; k < 13; k++) D[k] = D[k - 1] + reach[k];
}
/* Threads: the front advances in blocks of BH rows; thread t takes substeps t, t+nt, ... and substep s may work on
 * block b once substep s-1 has finished block b+1 (its last stage then is D[12] < BH rows further down). */
static atomic_int *done;                            /* done[s]: number of blocks finished by substep s */
static int NB, BH;
static void frame_fused(int t, int nt) {
    const float gh2 = (float)(G * (DT / SUBSTEPS) * (DT / SUBSTEPS));
    barrier(nt);                                    /* counters of this frame are zero from here */
    for (int s = t; s < SUBSTEPS; s += nt) {
        for (int b = 0; b < NB; b++) {
            if (s > 0) {                            /* wait for (s-1, b+1) */
                int need = b + 2 > NB ? NB : b + 2, spins = 0;
                while (atomic_load_explicit(&done[s - 1], memory_order_acquire) < need) {
                    if (++spins > 2000) { sched_yield(); spins = 0; }
                    __builtin_ia32_pause();
                }
            }
            int f0 = b * BH, f1 = b == NB - 1 ? N + D[12] : (b + 1) * BH;
            for (int f = f0; f < f1; f++) {
                if (f < N) g_predict(f, gh2);
                for (int k = 0; k < 12; k++) { int r = f - D[k + 1]; if (r >= 0 && r < N) g_colour_row(k, r); }
            }
            atomic_store_explicit(&done[s], b + 1, memory_order_release);
        }
    }
    barrier(nt);
    if (t == 0) for (int s = 0; s < SUBSTEPS; s++) atomic_store_explicit(&done[s], 0, memory_order_relaxed);
}
#endif

/* ------------------------------------------------------------------ quality
 * structural strain |l/l0-1| over the horizontal and vertical edges, kinetic energy, lowest point */
typedef struct { double mean, max, signed_mean, ke, low; } Quality;
static int is_indexed;
static P4 get_pos(int r, int c) {
#ifdef HAVE_AVX512
    if (!is_indexed) { long g = (long)r * NS + c; return (P4){GX[g], GY[g], GZ[g], GW[g]}; }
#endif
    return X[(long)r * N + c];
}
static P4 get_prev(int r, int c) {
#ifdef HAVE_AVX512
    if (!is_indexed) { long g = (long)r * NS + c; return (P4){PX[g], PY[g], PZ[g], 0}; }
#endif
    return PREV[(long)r * N + c];
}
static Quality quality(void) {
    Quality q = {0, 0, 0, 0, 1e9}; double s0 = SIZE / (N - 1), h = DT / SUBSTEPS; long cnt = 0;
    for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) {
        P4 a = get_pos(r, c), p = get_prev(r, c);
        for (int d = 0; d < 2; d++) {
            if (d == 0 ? c + 1 >= N : r + 1 >= N) continue;
            P4 b = get_pos(r + d, c + 1 - d);
            double dx = (double)a.x - b.x, dy = (double)a.y - b.y, dz = (double)a.z - b.z;
            double e = sqrt(dx * dx + dy * dy + dz * dz) / s0 - 1;
            q.mean += fabs(e); q.signed_mean += e; if (!(fabs(e) <= q.max)) q.max = fabs(e); cnt++;
        }
        if (a.w > 0) {
            double vx = (a.x - p.x) / h, vy = (a.y - p.y) / h, vz = (a.z - p.z) / h;
            q.ke += 0.5 / a.w * (vx * vx + vy * vy + vz * vz);
        }
        if (a.y < q.low) q.low = a.y;
    }
    q.mean /= cnt; q.signed_mean /= cnt; return q;
}

static int cmpd(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return x < y ? -1 : x > y; }

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *k = argv[i], *v = argv[i + 1];
        if (!strcmp(k, "--n")) N = atoi(v);
        else if (!strcmp(k, "--substeps")) SUBSTEPS = atoi(v);
        else if (!strcmp(k, "--iters")) ITERS = atoi(v);
        else if (!strcmp(k, "--frames")) FRAMES = atoi(v);
        else if (!strcmp(k, "--warmup")) WARMUP = atoi(v);
        else if (!strcmp(k, "--threads")) THREADS = atoi(v);
        else if (!strcmp(k, "--init")) INIT = v;
        else if (!strcmp(k, "--variant")) VARIANT = v;
        else if (!strcmp(k, "--a-struct")) A_STRUCT = atof(v);
        else if (!strcmp(k, "--a-shear")) A_SHEAR = atof(v);
        else if (!strcmp(k, "--a-bend")) A_BEND = atof(v);
        else if (!strcmp(k, "--a-min")) A_MIN = atof(v);
        else if (!strcmp(k, "--lra")) LRA = atoi(v);            /* indexed variants only */
        else { fprintf(stderr, "unknown option %s\n", k); return 2; }
    }
    if (THREADS <= 0) THREADS = omp_get_num_procs();
    int indexed = !strcmp(VARIANT, "scalar") || !strcmp(VARIANT, "avx512");
    int fused = !strcmp(VARIANT, "fused");
    void (*solve)(long, long) = solve_scalar;
#ifdef HAVE_AVX512
    if (!strcmp(VARIANT, "avx512")) solve = solve_avx512;
#else
    if (strcmp(VARIANT, "scalar")) { fprintf(stderr, "%s needs a CPU with AVX-512\n", VARIANT); return 2; }
#endif
    is_indexed = indexed;
    if (LRA && !indexed) { fprintf(stderr, "--lra: indexed variants only\n"); return 2; }
    if (fused && ITERS != 1) { fprintf(stderr, "fused: one iteration only\n"); return 2; }
    build(indexed);
    const long NP = (long)N * N;
    if (indexed) {
        X = xalloc(sizeof(P4) * NP); PREV = xalloc(sizeof(P4) * NP);
        memcpy(X, pos0, sizeof(P4) * NP); memcpy(PREV, pos0, sizeof(P4) * NP);
        if (LRA) lra_setup();
    }
#ifdef HAVE_AVX512
    else {
        grid_setup(); fused_setup();
        BH = 2 * D[12] > 24 ? 2 * D[12] : 24; BH = (BH + 3) & ~3;
        NB = (N + D[12]) / BH; if (NB < 1) NB = 1;
        done = calloc(SUBSTEPS, sizeof *done);
    }
#endif
    double *ms = malloc(sizeof(double) * FRAMES), u0 = 0, uq = 0, late_mean = 0, late_max = 0; int late_n = 0;
    omp_set_dynamic(0); omp_set_num_threads(THREADS);
    #pragma omp parallel num_threads(THREADS)
    {
        int t = omp_get_thread_num();
        for (int f = 0; f < FRAMES; f++) {
            double t0 = 0;
            if (t == 0) { if (f == WARMUP) u0 = user_ms(); t0 = now_ms(); }
            barrier(THREADS);
            if (indexed) frame_indexed(t, THREADS, solve);
#ifdef HAVE_AVX512
            else if (fused) frame_fused(t, THREADS);
            else frame_grid(t, THREADS);
#endif
            barrier(THREADS);
            if (t == 0) {
                ms[f] = now_ms() - t0;
                if (f + 1 >= 60 && (f + 1) % 5 == 0) {       /* from 1 s on, every 5th frame */
                    double u = user_ms(); Quality q = quality();
                    late_mean += q.mean; late_n++; if (!(q.max <= late_max)) late_max = q.max;
                    uq += (user_ms() - u) * (THREADS > 1 ? THREADS : 1);   /* the other threads spin */
                }
            }
        }
    }
    double user_per_frame = FRAMES > WARMUP ? (user_ms() - u0 - uq) / (FRAMES - WARMUP) : 0;
    Quality q = quality();
    int nt = FRAMES - WARMUP; double *tm = ms + WARMUP; if (nt < 1) { nt = FRAMES; tm = ms; }
    qsort(tm, nt, sizeof(double), cmpd);
    double med = nt & 1 ? tm[nt / 2] : 0.5 * (tm[nt / 2 - 1] + tm[nt / 2]);
    struct rusage ru; getrusage(RUSAGE_SELF, &ru);
    printf("{\"peer\":\"native-%s%s\",\"n\":%d,\"particles\":%ld,\"constraints\":%ld,\"substeps\":%d,\"iterations\":%d,"
           "\"ms_per_frame_median\":%.4f,\"ms_min\":%.4f,\"ms_max\":%.4f,\"user_ms_per_frame\":%.3f,"
           "\"projections_per_s\":%.4g,\"mean_strain\":%.6g,\"max_strain\":%.6g,\"mean_signed_strain\":%.6g,"
           "\"mean_strain_late\":%.6g,\"max_strain_late\":%.6g,\"kinetic_energy\":%.6g,\"lowest_y\":%.5g,\"rss_mb\":%.1f,\"threads\":%d,\"frames\":%d,\"init\":\"%s\","
           "\"a_struct\":%g,\"a_shear\":%g,\"a_bend\":%g,\"a_min_wh2\":%g,"
           "\"note\":\"C, coloured Gauss-Seidel XPBD, 12 colours, f32, %s\"}\n",
           VARIANT, LRA ? "-lra" : "", N, NP, NC, SUBSTEPS, ITERS, med, tm[0], tm[nt - 1], user_per_frame,
           (double)NC * SUBSTEPS * ITERS / (med * 1e-3), num(q.mean), num(q.max), num(q.signed_mean),
           late_n ? num(late_mean / late_n) : -1.0, late_n ? num(late_max) : -1.0, num(q.ke), num(q.low),
           ru.ru_maxrss / 1024.0, THREADS, FRAMES, INIT, A_STRUCT, A_SHEAR, A_BEND, A_MIN,
           indexed ? (LRA ? "indexed constraints 16 B, float4 particles, + one long range attachment per particle" : "indexed constraints 16 B, float4 particles") : fused ? "grid-implicit, colours fused in one sweep" : "grid-implicit SoA, no constraint data");
    return 0;
}
