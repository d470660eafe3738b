// cuda_xpbd.cu -- CUDA baseline for drape-N (see ../README.md): coloured Gauss-Seidel XPBD, float32.
//
// Modes (the same arithmetic; 'tile' solves in another order, the rest in the common order):
//   stream  one launch per colour, 13 launches per substep
//   graph   the same launches of one frame captured in one CUDA graph            (the baseline)
//   coop    one cooperative launch per frame, grid.sync() between colours (WGSL cannot do this)
//   tile    constraints owned by TxT tiles, tiles in 2x2 phases, all 12 colours of a tile solved in shared
//           memory, integration folded into the load: 4 launches per substep, CUDA graph per frame.
//           Uses the implicit grid (no constraint data); a mesh solver would read ~8 B per constraint more.
//   floor   no cloth: launch and synchronisation costs and copy bandwidths of this machine
//
// Build:  nvcc -O3 -arch=sm_90 --use_fast_math cuda_xpbd.cu -o cuda_xpbd
// Run:    ./cuda_xpbd --n 316 --mode graph     prints one JSON line
// Check without a GPU (slow, serial, same source):  g++ -O3 -DCPU_SHIM -x c++ cuda_xpbd.cu -o cuda_shim
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifndef CPU_SHIM
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
#define LAUNCH(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#define GRID_SYNC() cg::this_grid().sync()
#define CK(call)                                                                                              \
    do {                                                                                                      \
        cudaError_t e_ = (call);                                                                              \
        if (e_ != cudaSuccess) {                                                                              \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));             \
            exit(1);                                                                                          \
        }                                                                                                     \
    } while (0)
#else  // one serial thread runs every block; __syncthreads and grid.sync are no-ops
struct float4 { float x, y, z, w; };
struct int4 { int x, y, z, w; };
struct D3 { int x, y, z; };
static D3 threadIdx, blockIdx, blockDim, gridDim;
#define __global__ static
#define __device__ static
#define __forceinline__ inline
#define __restrict__
#define __shared__ static
#define __syncthreads()
#define GRID_SYNC()
static inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
static inline int4 make_int4(int a, int b, int c, int d) { return {a, b, c, d}; }
static inline float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#define LAUNCH(kernel, grid, block, stream, ...)                                                              \
    do { gridDim = {(int)(grid), 1, 1}; blockDim = {1, 1, 1}; threadIdx = {0, 0, 0};                          \
         for (int b_ = 0; b_ < gridDim.x; b_++) { blockIdx = {b_, 0, 0}; kernel(__VA_ARGS__); } } while (0)
#endif

// ------------------------------------------------------------------ device code
struct Params {
    int n, particles, substeps, iters;
    float gh2;             // gravity * h^2
    float rest[12];        // rest length per colour        (tile mode only)
    float alpha[12];       // compliance / h^2 per colour   (tile mode only)
    int start[13];         // colour offsets into the constraint list
};

// v = (x - prev)/h + g h;  prev = x;  x += v h     (velocities are never stored)
__device__ __forceinline__ float4 predict(float4 x, float4 p, float gh2) {
    if (x.w > 0.0f) {
        x.x += x.x - p.x;
        x.y += x.y - p.y + gh2;
        x.z += x.z - p.z;
    }
    return x;
}
// XPBD distance constraint, one sweep per substep (lambda starts at 0, so it is not stored)
__device__ __forceinline__ void project(float4 &a, float4 &b, float rest, float alpha) {
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    float inv = rsqrtf(fmaxf(dx * dx + dy * dy + dz * dz, 1e-24f));
    float s = (1.0f - rest * inv) / fmaxf(a.w + b.w + alpha, 1e-20f);
    float sa = a.w * s, sb = b.w * s;
    a.x -= sa * dx; a.y -= sa * dy; a.z -= sa * dz;
    b.x += sb * dx; b.y += sb * dy; b.z += sb * dz;
}
__device__ __forceinline__ void predict_all(float4 *x, float4 *prev, const Params &p) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.particles; i += gridDim.x * blockDim.x) {
        float4 q = x[i];
        float4 o = prev[i];
        prev[i] = q;
        x[i] = predict(q, o, p.gh2);
    }
}
__device__ __forceinline__ void solve_colour(float4 *x, const int4 *__restrict__ con, int begin, int end) {
    for (int q = begin + blockIdx.x * blockDim.x + threadIdx.x; q < end; q += gridDim.x * blockDim.x) {
        int4 c = con[q];                          // {i, j, rest, compliance/h^2}: one 16-byte load
        float4 a = x[c.x], b = x[c.y];
        project(a, b, __int_as_float(c.z), __int_as_float(c.w));
        x[c.x] = a;
        x[c.y] = b;
    }
}
__global__ void k_predict(float4 *x, float4 *prev, Params p) { predict_all(x, prev, p); }
__global__ void k_colour(float4 *x, const int4 *__restrict__ con, int begin, int end) { solve_colour(x, con, begin, end); }

// one frame in one launch
__global__ void k_frame(float4 *x, float4 *prev, const int4 *con, Params p) {
    for (int s = 0; s < p.substeps; s++) {
        predict_all(x, prev, p);
        GRID_SYNC();
        for (int it = 0; it < p.iters; it++)
            for (int k = 0; k < 12; k++) {
                solve_colour(x, con, p.start[k], p.start[k + 1]);
                GRID_SYNC();
            }
    }
}

// Tiles.  Tile (R,C) owns the constraints whose upper-left corner lies in its TxT particles, so it touches a
// (T+2)x(T+2) window.  Tiles of one phase (R&1, C&1) touch disjoint windows.  The first phase that touches a
// particle in a substep also integrates it.  T is a multiple of 4, so local colours equal global colours.
__device__ __forceinline__ int phase_of(int R, int C) { return (R & 1) * 2 + (C & 1); }
template <int T>
__global__ void k_tile(float4 *x, float4 *prev, Params p, int phase) {
    const int W = T + 2, n = p.n;
    __shared__ float4 s[W * W];
    int tiles = (n + T - 1) / T, pr = phase >> 1, pc = phase & 1;
    int per_row = (tiles + 1 - pc) / 2;
    int R = (blockIdx.x / per_row) * 2 + pr, C = (blockIdx.x % per_row) * 2 + pc;
    int r0 = R * T, c0 = C * T;
    int h = n - r0 < W ? n - r0 : W, w = n - c0 < W ? n - c0 : W;
    for (int k = threadIdx.x; k < W * W; k += blockDim.x) {
        int lr = k / W, lc = k % W;
        if (lr >= h || lc >= w) continue;
        int g = (r0 + lr) * n + c0 + lc;
        float4 v = x[g];
        int Ro = (r0 + lr) / T, Co = (c0 + lc) / T;                    // owner tile of the particle
        int up = ((r0 + lr) - Ro * T < 2) && Ro > 0, left = ((c0 + lc) - Co * T < 2) && Co > 0;
        int first = phase_of(Ro, Co), f;
        if (up)         { f = phase_of(Ro - 1, Co);     first = f < first ? f : first; }
        if (left)       { f = phase_of(Ro, Co - 1);     first = f < first ? f : first; }
        if (up && left) { f = phase_of(Ro - 1, Co - 1); first = f < first ? f : first; }
        if (first == phase) {
            float4 o = prev[g];
            prev[g] = v;
            v = predict(v, o, p.gh2);
        }
        s[k] = v;
    }
    __syncthreads();
    for (int k = 0; k < 12; k++) {
        const int par = k & 1, fam = k >> 1;
        const float rest = p.rest[k], alpha = p.alpha[k];
        for (int q = threadIdx.x; q < T * T / 2; q += blockDim.x) {
            int lr, lc, ia, ib, ok;
            if (fam == 0)      { lr = q / (T / 2); lc = (q % (T / 2)) * 2 + par; ok = r0 + lr < n && c0 + lc + 1 < n; ia = lr * W + lc; ib = ia + 1; }
            else if (fam == 1) { lr = (q / T) * 2 + par; lc = q % T; ok = r0 + lr + 1 < n && c0 + lc < n; ia = lr * W + lc; ib = ia + W; }
            else if (fam == 2) { lr = (q / T) * 2 + par; lc = q % T; ok = r0 + lr + 1 < n && c0 + lc + 1 < n; ia = lr * W + lc; ib = ia + W + 1; }
            else if (fam == 3) { lr = (q / T) * 2 + par; lc = q % T; ok = r0 + lr + 1 < n && c0 + lc + 1 < n; ia = lr * W + lc + 1; ib = ia + W - 1; }
            else if (fam == 4) { int m = q % (T / 2); lr = q / (T / 2); lc = (m >> 1) * 4 + (m & 1) + 2 * par; ok = r0 + lr < n && c0 + lc + 2 < n; ia = lr * W + lc; ib = ia + 2; }
            else               { int m = q / T; lr = (m >> 1) * 4 + (m & 1) + 2 * par; lc = q % T; ok = r0 + lr + 2 < n && c0 + lc < n; ia = lr * W + lc; ib = ia + 2 * W; }
            if (ok) {
                float4 a = s[ia], b = s[ib];
                project(a, b, rest, alpha);
                s[ia] = a;
                s[ib] = b;
            }
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < W * W; k += blockDim.x) {
        int lr = k / W, lc = k % W;
        if (lr < h && lc < w) x[(r0 + lr) * n + c0 + lc] = s[k];
    }
}
static int tiles_in_phase(int n, int T, int phase) {
    int tiles = (n + T - 1) / T;
    return ((tiles + 1 - (phase >> 1)) / 2) * ((tiles + 1 - (phase & 1)) / 2);
}
__global__ void k_empty() {}
#ifndef CPU_SHIM
__global__ void k_syncs(int count) { for (int i = 0; i < count; i++) GRID_SYNC(); }
__global__ void k_copy(float4 *d, const float4 *s, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) d[i] = s[i];
}
#endif

// ------------------------------------------------------------------ host code
static double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); size_t k = v.size(); return k ? (k & 1 ? v[k / 2] : 0.5 * (v[k / 2 - 1] + v[k / 2])) : 0; }

struct Quality { double mean, max, sg, ke, low; };
static Quality quality(const std::vector<float4> &x, const std::vector<float4> &p, int n, double h) {
    Quality q = {0, 0, 0, 0, 1e9};
    double s0 = 2.0 / (n - 1);
    long cnt = 0;
    for (int r = 0; r < n; r++) for (int c = 0; c < n; c++) {
        const float4 &a = x[(size_t)r * n + c], &o = p[(size_t)r * n + c];
        for (int d = 0; d < 2; d++) {
            int r1 = r + d, c1 = c + 1 - d;
            if (r1 >= n || c1 >= n) continue;
            const float4 &b = x[(size_t)r1 * n + c1];
            double dx = (double)a.x - b.x, dy = (double)a.y - b.y, dz = (double)a.z - b.z;
            double e = sqrt(dx * dx + dy * dy + dz * dz) / s0 - 1;
            q.mean += fabs(e); q.sg += e; cnt++;
            if (!(fabs(e) <= q.max)) q.max = fabs(e);
        }
        if (a.w > 0) {
            double vx = ((double)a.x - o.x) / h, vy = ((double)a.y - o.y) / h, vz = ((double)a.z - o.z) / h;
            q.ke += 0.5 / a.w * (vx * vx + vy * vy + vz * vz);
        }
        q.low = std::min(q.low, (double)a.y);
    }
    q.mean /= cnt; q.sg /= cnt;
    return q;
}

#ifndef CPU_SHIM
static void machine_floor() {
    cudaDeviceProp pr; CK(cudaGetDeviceProperties(&pr, 0));
    cudaStream_t st; CK(cudaStreamCreate(&st));
    auto frames = [&](auto &&f, int reps) {
        std::vector<double> v;
        for (int i = 0; i < reps + 5; i++) { double t = now_ms(); f(); CK(cudaGetLastError()); CK(cudaStreamSynchronize(st)); if (i >= 5) v.push_back(now_ms() - t); }
        return median(v);
    };
    auto graph_of = [&](int nodes, int blocks) {
        cudaGraph_t g; cudaGraphExec_t e;
        CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < nodes; i++) LAUNCH(k_empty, blocks, 128, st);
        CK(cudaStreamEndCapture(st, &g)); CK(cudaGraphInstantiate(&e, g, 0)); CK(cudaGraphDestroy(g));
        return e;
    };
    cudaGraphExec_t e1 = graph_of(1, 195), e80 = graph_of(80, 100), e260 = graph_of(260, 195);
    double one = frames([&] { LAUNCH(k_empty, 1, 32, st); }, 200);
    double s260 = frames([&] { for (int i = 0; i < 260; i++) LAUNCH(k_empty, 195, 128, st); }, 100);
    double g1 = frames([&] { CK(cudaGraphLaunch(e1, st)); }, 200);
    double g80 = frames([&] { CK(cudaGraphLaunch(e80, st)); }, 100), g260 = frames([&] { CK(cudaGraphLaunch(e260, st)); }, 100);
    auto syncs = [&](int blocks, int threads) {
        int count = 260; void *args[] = {&count};
        return frames([&] { CK(cudaLaunchCooperativeKernel((void *)k_syncs, dim3(blocks), dim3(threads), args, 0, st)); }, 100);
    };
    double c1 = syncs(pr.multiProcessorCount, 256), c2 = syncs(pr.multiProcessorCount, 1024);
    auto bw = [&](size_t bytes, int reps) {
        float4 *a, *b; CK(cudaMalloc(&a, bytes)); CK(cudaMalloc(&b, bytes)); CK(cudaMemset(a, 1, bytes)); CK(cudaMemset(b, 1, bytes));
        double t = frames([&] { for (int i = 0; i < reps; i++) LAUNCH(k_copy, pr.multiProcessorCount * 8, 512, st, b, a, bytes / 16); }, 20);
        CK(cudaFree(a)); CK(cudaFree(b));
        return 2.0 * bytes * reps / (t * 1e-3) / 1e12;
    };
    double l2 = bw((size_t)8 << 20, 200), hbm = bw((size_t)2 << 30, 4);
    printf("{\"peer\":\"cuda-floor\",\"device\":\"%s\",\"sms\":%d,\"l2_mb\":%.0f,\"one_launch_us\":%.2f,\"stream_260_launches_us\":%.1f,"
           "\"graph_1_node_us\":%.2f,\"graph_80_nodes_us\":%.1f,\"graph_260_nodes_us\":%.1f,\"coop_260_syncs_256t_us\":%.1f,\"coop_260_syncs_1024t_us\":%.1f,"
           "\"copy_tb_s_8mb_in_l2\":%.2f,\"copy_tb_s_2gb\":%.2f}\n",
           pr.name, pr.multiProcessorCount, pr.l2CacheSize / 1048576.0, one * 1e3, s260 * 1e3, g1 * 1e3, g80 * 1e3, g260 * 1e3, c1 * 1e3, c2 * 1e3, l2, hbm);
}
#endif

int main(int argc, char **argv) {
    int n = 316, substeps = 20, iters = 1, frames = 120, warmup = 5, block = 128, T = 16;
    double a_struct = 0, a_shear = 1e-6, a_bend = 1e-4, a_min = 0;
    std::string init = "hang", mode = "graph";
    for (int i = 1; i + 1 < argc; i += 2) {
        std::string k = argv[i]; const char *v = argv[i + 1];
        if (k == "--n") n = atoi(v); else if (k == "--substeps") substeps = atoi(v); else if (k == "--iters") iters = atoi(v);
        else if (k == "--frames") frames = atoi(v); else if (k == "--warmup") warmup = atoi(v); else if (k == "--block") block = atoi(v);
        else if (k == "--tile") T = atoi(v); else if (k == "--init") init = v; else if (k == "--mode") mode = v;
        else if (k == "--a-struct") a_struct = atof(v); else if (k == "--a-shear") a_shear = atof(v);
        else if (k == "--a-bend") a_bend = atof(v); else if (k == "--a-min") a_min = atof(v);
        else { fprintf(stderr, "unknown option %s\n", k.c_str()); return 2; }
    }
#ifndef CPU_SHIM
    if (mode == "floor") { machine_floor(); return 0; }
#endif
    if (mode == "tile" && (iters != 1 || (T != 8 && T != 16 && T != 32))) { fprintf(stderr, "tile: --iters 1, --tile 8, 16 or 32\n"); return 2; }
    if (mode != "tile" && mode != "graph" && mode != "stream" && mode != "coop") { fprintf(stderr, "unknown mode\n"); return 2; }

    // ---- the workload
    const double size = 2.0, h = 1.0 / 60.0 / substeps, pi = 3.14159265358979323846;
    const double s = size / (n - 1), m = 0.2 * size * size / ((double)n * n);
    const int np = n * n;
    std::vector<float4> pos(np);
    for (int r = 0; r < n; r++) for (int c = 0; c < n; c++) {
        double u = (double)c / (n - 1), v = (double)r / (n - 1), bump = 0.002 * sin(3 * pi * u) * sin(2 * pi * v);
        bool pin = r == 0 && (c == 0 || c == n - 1);
        float w = pin ? 0.0f : (float)(1.0 / m), X = (float)(-0.5 * size + c * s);
        pos[(size_t)r * n + c] = init == "flat" ? make_float4(X, (float)bump, (float)(r * s), w) : make_float4(X, (float)(-r * s), (float)bump, w);
    }
    Params p; p.n = n; p.particles = np; p.substeps = substeps; p.iters = iters; p.gh2 = (float)(-9.81 * h * h);
    std::vector<int4> con;
    for (int k = 0; k < 12; k++) {
        p.rest[k] = (float)(k < 4 ? s : k < 8 ? s * sqrt(2.0) : 2 * s);
        p.alpha[k] = (float)std::max((k < 4 ? a_struct : k < 8 ? a_shear : a_bend) / (h * h), a_min / m);
        p.start[k] = (int)con.size();
        int dr = (k < 2 || k == 8 || k == 9) ? 0 : k < 8 ? 1 : 2, dc = k < 2 ? 1 : k < 4 ? 0 : k < 6 ? 1 : k < 8 ? -1 : k < 10 ? 2 : 0;
        int rest_i, alpha_i; memcpy(&rest_i, &p.rest[k], 4); memcpy(&alpha_i, &p.alpha[k], 4);
        for (int r = 0; r + dr < n; r++) for (int c = dc < 0 ? 1 : 0; c + (dc > 0 ? dc : 0) < n; c++) {
            int col = k < 2 ? c & 1 : k < 8 ? r & 1 : k < 10 ? (c >> 1) & 1 : (r >> 1) & 1;
            if (col == (k & 1)) con.push_back(make_int4(r * n + c, (r + dr) * n + c + dc, rest_i, alpha_i));
        }
    }
    p.start[12] = (int)con.size();
    const double nc = (double)con.size();

    // ---- device state
    float4 *x, *prev; int4 *dcon;
#ifndef CPU_SHIM
    cudaDeviceProp pr; CK(cudaGetDeviceProperties(&pr, 0));
    size_t f0, f1, tot; CK(cudaMemGetInfo(&f0, &tot));
    cudaStream_t st; CK(cudaStreamCreate(&st));
    CK(cudaMalloc(&x, sizeof(float4) * np)); CK(cudaMalloc(&prev, sizeof(float4) * np)); CK(cudaMalloc(&dcon, sizeof(int4) * con.size()));
    CK(cudaMemcpy(x, pos.data(), sizeof(float4) * np, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(prev, pos.data(), sizeof(float4) * np, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dcon, con.data(), sizeof(int4) * con.size(), cudaMemcpyHostToDevice));
    CK(cudaMemGetInfo(&f1, &tot));
#else
    int st = 0; (void)st;
    std::vector<float4> xs = pos, ps = pos;
    x = xs.data(); prev = ps.data(); dcon = con.data();
#endif
    auto blocks = [&](int count) { return (count + block - 1) / block; };
    auto enqueue = [&] {                                  // the launches of one frame, modes stream, graph, tile
        for (int t = 0; t < substeps; t++) {
            if (mode == "tile") {
                for (int ph = 0; ph < 4; ph++) {
                    int g = tiles_in_phase(n, T, ph);
                    if (g == 0) continue;
                    if (T == 8) LAUNCH((k_tile<8>), g, 32, st, x, prev, p, ph);
                    else if (T == 16) LAUNCH((k_tile<16>), g, 128, st, x, prev, p, ph);
                    else LAUNCH((k_tile<32>), g, 512, st, x, prev, p, ph);
                }
                continue;
            }
            LAUNCH(k_predict, blocks(np), block, st, x, prev, p);
            for (int it = 0; it < iters; it++)
                for (int k = 0; k < 12; k++)
                    LAUNCH(k_colour, blocks(p.start[k + 1] - p.start[k]), block, st, x, (const int4 *)dcon, p.start[k], p.start[k + 1]);
        }
    };
    std::vector<double> wall;
    double late_mean = 0, late_max = 0, gpu_ms = 0; int late_n = 0;
    std::vector<float4> hx(np), hp(np);
    auto fetch = [&] {
#ifndef CPU_SHIM
        CK(cudaMemcpy(hx.data(), x, sizeof(float4) * np, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(hp.data(), prev, sizeof(float4) * np, cudaMemcpyDeviceToHost));
#else
        hx = xs; hp = ps;
#endif
        return quality(hx, hp, n, h);
    };
#ifndef CPU_SHIM
    cudaGraphExec_t exec = nullptr;
    if (mode == "graph" || mode == "tile") {
        cudaGraph_t g;
        CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeThreadLocal));
        enqueue();
        CK(cudaStreamEndCapture(st, &g)); CK(cudaGraphInstantiate(&exec, g, 0)); CK(cudaGraphDestroy(g));
        CK(cudaGraphUpload(exec, st)); CK(cudaStreamSynchronize(st));
    }
    int coop_blocks = 0, per_sm = 0;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, k_frame, block, 0));
    coop_blocks = std::min(per_sm * pr.multiProcessorCount, blocks((p.start[12] + 11) / 12));
    auto frame = [&] {
        if (mode == "graph" || mode == "tile") CK(cudaGraphLaunch(exec, st));
        else if (mode == "coop") {
            const int4 *cc = dcon; void *args[] = {&x, &prev, &cc, &p};
            CK(cudaLaunchCooperativeKernel((void *)k_frame, dim3(coop_blocks), dim3(block), args, 0, st));
        } else enqueue();
        CK(cudaGetLastError());
    };
    auto sync = [&] { CK(cudaStreamSynchronize(st)); };
#else
    auto frame = [&] { if (mode == "coop") LAUNCH(k_frame, 1, 1, st, x, prev, (const int4 *)dcon, p); else enqueue(); };
    auto sync = [] {};
#endif
    for (int f = 0; f < frames; f++) {                    // one frame at a time, the host waits for each
        double t = now_ms();
        frame(); sync();
        if (f >= warmup) wall.push_back(now_ms() - t);
        if (f + 1 >= 60 && (f + 1) % 5 == 0) {
            Quality q = fetch(); late_mean += q.mean; late_n++; if (!(q.max <= late_max)) late_max = q.max;
        }
    }
    Quality q = fetch();
    double mem_mb = 0; const char *dev = "serial shim";
#ifndef CPU_SHIM
    {                                                     // without waits of the host: the GPU time per frame
        cudaEvent_t a, b; CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
        const int reps = 100;
        CK(cudaEventRecord(a, st)); for (int i = 0; i < reps; i++) frame(); CK(cudaEventRecord(b, st)); CK(cudaEventSynchronize(b));
        float t; CK(cudaEventElapsedTime(&t, a, b)); gpu_ms = t / reps;
    }
    mem_mb = (f0 - f1) / 1048576.0; dev = pr.name;
#endif
    double med = median(wall), lo = *std::min_element(wall.begin(), wall.end()), hi = *std::max_element(wall.begin(), wall.end());
    auto num = [](double v) { return std::isfinite(v) ? v : -1.0; };    // -1: diverged
    printf("{\"peer\":\"cuda-%s%s\",\"n\":%d,\"particles\":%d,\"constraints\":%.0f,\"substeps\":%d,\"iterations\":%d,"
           "\"ms_per_frame_median\":%.4f,\"ms_min\":%.4f,\"ms_max\":%.4f,\"gpu_ms_per_frame\":%.4f,\"projections_per_s\":%.4g,"
           "\"mean_strain\":%.6g,\"max_strain\":%.6g,\"mean_signed_strain\":%.6g,\"mean_strain_late\":%.6g,\"max_strain_late\":%.6g,"
           "\"kinetic_energy\":%.6g,\"lowest_y\":%.5g,\"device_mb\":%.1f,\"device\":\"%s\",\"block\":%d,\"frames\":%d,\"init\":\"%s\","
           "\"a_struct\":%g,\"a_shear\":%g,\"a_bend\":%g,\"a_min_wh2\":%g,\"note\":\"coloured Gauss-Seidel XPBD, 12 colours, f32, %s\"}\n",
           mode.c_str(), mode == "tile" ? std::to_string(T).c_str() : "", n, np, nc, substeps, iters, med, lo, hi, gpu_ms, nc * substeps * iters / (med * 1e-3),
           num(q.mean), num(q.max), num(q.sg), late_n ? num(late_mean / late_n) : -1.0, late_n ? num(late_max) : -1.0, num(q.ke), num(q.low), mem_mb, dev,
           mode == "tile" ? (T == 8 ? 32 : T == 16 ? 128 : 512) : block, frames, init.c_str(), a_struct, a_shear, a_bend, a_min,
           mode == "graph" ? "one CUDA graph per frame, 13 launches per substep" : mode == "stream" ? "13 launches per substep"
           : mode == "coop" ? "one cooperative launch per frame, grid.sync between colours" : "2x2 tile phases in shared memory, implicit grid, 4 launches per substep, CUDA graph");
    return 0;
}
