import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PATIENCE_MS } from '../../support/patience.ts'
import { type Fault, unless } from '../long/fault.ts'
import { exitOf } from '../setup.ts'
import { clusterFault, median, untilBothWork } from './run.ts'
import type { ClusterNode } from './setup.ts'

/** From the request to revoke, until the other node refuses the key. */
const REVOKED_MS = 300

/** A key is revoked at one node and used at the other. */
export const revocation: Fault = clusterFault({
  name: 'cluster.revoke',
  needs: [],
  rounds: { long: 100, short: 10 },
  run: async ({ cluster, bench }) => {
    const tookMs: number[] = []
    let used = 0
    const ask = (node: ClusterNode, method: string, path: string, body?: object, key = cluster.key) =>
      node.api(method, path, body, { authorization: `Bearer ${key}` }, PATIENCE_MS)
    const { data } = (await (await ask(cluster.nodes[0], 'GET', '/v1/domains')).json()) as { data: { id: string }[] }
    for (let round = 0; round < bench.rounds; round++) {
      const [here, there] = round % 2 === 0 ? cluster.nodes : ([...cluster.nodes].reverse() as typeof cluster.nodes)
      const body = { name: `key ${round}`, domain_id: data[0]!.id, permissions: ['read'] }
      const { id, key } = (await (await ask(here, 'POST', '/v1/api-keys', body)).json()) as { id: string; key: string }
      const isRefused = async () => {
        const { status } = await ask(there, 'GET', '/v1/usage', undefined, key)
        return status === 401
      }
      if (await isRefused()) throw new Error('the other node does not know the new key')
      const revokedAt = performance.now()
      const isRevoked = ask(here, 'DELETE', `/v1/api-keys/${id}`)
      while (!(await isRefused())) await Bun.sleep(1)
      tookMs.push(performance.now() - revokedAt)
      await isRevoked
      if (!(await isRefused())) used++
    }
    const worst = Math.max(...tookMs)
    return {
      figures: `${bench.rounds} keys revoked, refused by the other node after ${median(tookMs).toFixed(0)} ms (median, at most ${worst.toFixed(0)})`,
      broken: unless(used === 0, `${used} keys were accepted after the answer`),
      slow: unless(median(tookMs) <= REVOKED_MS, `a revoked key is accepted for ${median(tookMs).toFixed(0)} ms`),
    }
  },
})

/** The clock of one machine is an hour ahead, then an hour behind. */
export const clock: Fault = clusterFault({
  name: 'cluster.clock',
  needs: ['cc'],
  rounds: { long: 20, short: 2 },
  run: async ({ cluster, load, bench }) => {
    const library = join(cluster.folder, 'clock.so')
    writeFileSync(`${library}.c`, SHIFTED_CLOCK)
    const made = spawnSync('cc', ['-shared', '-fPIC', '-o', library, `${library}.c`], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(made.stderr)
    const [, second] = cluster.nodes
    const worstMs: number[] = []
    for (const ahead of [3600, -3600]) {
      second.process!.kill('SIGTERM')
      await exitOf(second.process!)
      await second.serve({ LD_PRELOAD: library, CLOCK_AHEAD_SECONDS: String(ahead) })
      await untilBothWork(cluster, load)
      const before = new Set(load.promised.keys())
      const promisedAt = new Map<string, number>()
      for (const endsAt = performance.now() + 500 * bench.rounds; performance.now() < endsAt; await Bun.sleep(20)) {
        for (const token of load.promised.keys()) {
          if (!before.has(token) && !promisedAt.has(token)) promisedAt.set(token, performance.now())
        }
      }
      const areThere = () => [...promisedAt.keys()].every((token) => cluster.sink.times.has(token))
      for (const endsAt = performance.now() + PATIENCE_MS; performance.now() < endsAt && !areThere(); ) {
        await Bun.sleep(20)
      }
      const waits = [...promisedAt].map(([token, at]) => (cluster.sink.times.get(token)?.[0] ?? Infinity) - at)
      worstMs.push(Math.max(...waits))
    }
    return {
      figures: `an hour ahead and behind, delivered after ${worstMs.map((ms) => ms.toFixed(0)).join(' and ')} ms at most`,
      broken: unless(Math.max(...worstMs) < Infinity, 'mail is not delivered where clocks differ'),
      slow: unless(Math.max(...worstMs) <= DELIVERED_MS, `mail waits for ${worstMs} ms where clocks differ`),
    }
  },
})

/** A wrong clock would delay mail by an hour. */
const DELIVERED_MS = 10_000

/** The functions of glibc that tell the time of day, shifted. */
const SHIFTED_CLOCK = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long ahead(void) { const char *text = getenv("CLOCK_AHEAD_SECONDS"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
  return result;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`
