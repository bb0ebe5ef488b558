import type { TestInstallation } from '../setup.ts'
import { peakMb, residentMb } from './process.ts'

/** What a thread that does nothing else observed of the process from outside. */
export interface Seen {
  /** The largest resident memory. */
  peakMb: number
  /** Of another client's requests, one after another, all the time. */
  p99Ms: number
  worstMs: number
  /** Requests that were not answered with 200. */
  unanswered: number
  /** Whether it exceeded its limit and was killed. */
  isKilled: boolean
}

export interface Observer {
  /** Stops the observation. */
  stop(): Promise<Seen>
}

/** Watches a process every 20 ms and sends requests unrelated to the load. With `ceilingMb` it kills the process
 *  above that resident memory, as the kernel would. */
export async function watch(
  installation: TestInstallation,
  pid: number,
  ceilingMb = Number.POSITIVE_INFINITY,
): Promise<Observer> {
  const worker = new Worker(import.meta.url)
  const report = () =>
    new Promise<Seen>((resolve) => worker.addEventListener('message', ({ data }) => resolve(data), { once: true }))
  worker.postMessage({ pid, url: `http://127.0.0.1:${installation.port}/healthz`, ceilingMb } satisfies Task)
  return {
    stop: async () => {
      worker.postMessage('stop')
      const seen = await report()
      worker.terminate()
      return seen
    },
  }
}

interface Task {
  pid: number
  url: string
  ceilingMb: number
}

/** How late the main thread reached its timer: the program's own metric. */
export interface Stalls {
  /** The smallest bound above all delays; Infinity beyond the last. */
  worstUnderMs: number
  /** How often later than 100 ms. */
  over100: number
  /** How often at most so late. */
  counts: { ms: number; count: number }[]
}

/** From the program's metric, minus the values `before`. Rejects when it does not answer. */
export async function stallsOf(installation: TestInstallation, before?: Stalls): Promise<Stalls> {
  const text = await (await fetch(`http://127.0.0.1:${installation.port}/metrics`)).text()
  const counts = [...text.matchAll(/main_thread_late_seconds_bucket\{le="([^"]+)"\} (\d+)/g)].map(
    ([, bound, count], at) => ({
      ms: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1_000,
      count: Number(count) - (before?.counts[at]?.count ?? 0),
    }),
  )
  const all = counts.at(-1)?.count ?? 0
  return {
    worstUnderMs: counts.find(({ count }) => count === all)?.ms ?? 0,
    over100: all - (counts.find(({ ms }) => ms === 100)?.count ?? all),
    counts,
  }
}

/** Both as a figure. */
export function wordsOf({ peakMb, p99Ms, worstMs }: Seen, { worstUnderMs, over100 }: Omit<Stalls, 'counts'>): string {
  return (
    `resident ${peakMb.toFixed(0)} MB at most; others meanwhile p99 ${p99Ms.toFixed(0)} ms, ${worstMs.toFixed(0)} ms at most; ` +
    `main thread under ${worstUnderMs} ms, ${over100} over 100 ms`
  )
}

const EVERY_MS = 20

declare const self: Worker

function look({ pid, url, ceilingMb }: Task): () => Seen {
  const asked: number[] = []
  let unanswered = 0
  let peak = 0
  let isKilled = false
  let isOver = false
  const timer = setInterval(() => {
    try {
      const mb = residentMb(pid)
      peak = Math.max(peak, peakMb(pid))
      if (mb <= ceilingMb) return
      isKilled = true
      process.kill(pid, 'SIGKILL')
    } catch {
      isOver = true // it has ended
    }
    if (isKilled || isOver) clearInterval(timer)
  }, EVERY_MS)
  const ask = async () => {
    const beganAt = performance.now()
    const status = await fetch(url, { signal: AbortSignal.timeout(30_000) }).then(
      (answer) => answer.status,
      () => 0,
    )
    asked.push(performance.now() - beganAt)
    if (status !== 200) unanswered++
    if (!isOver && !isKilled) setTimeout(ask, EVERY_MS)
  }
  void ask()
  return () => {
    isOver = true
    clearInterval(timer)
    asked.sort((a, b) => a - b)
    return {
      peakMb: peak,
      p99Ms: asked[Math.floor(asked.length * 0.99)]!,
      worstMs: asked.at(-1)!,
      unanswered,
      isKilled,
    }
  }
}

if (!Bun.isMainThread) {
  let end: (() => Seen) | null = null
  self.onmessage = ({ data }: MessageEvent<Task | 'stop'>) => {
    if (data === 'stop') self.postMessage(end?.())
    else end = look(data)
  }
}
