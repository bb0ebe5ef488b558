/** What a piece of work costs: CPU milliseconds of this process. Other programs do not count, but they make caches
 *  colder; so a limit is at least five times the usual cost, and grows with how much slower the machine is now. */
import { expect } from 'bun:test'

/** → the least cost of `tries`, which excludes most of the garbage collector and the compiler. (The CPU time of a single
 *  thread is only known to some milliseconds.) */
export async function costMs(work: () => unknown, tries: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let index = 0; index < tries; index++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** Fails when the work costs `mostMs` or more, on a machine as fast as the one that the limits were set on. Work that
 *  exceeds it is repeated, because other work of the machine only adds time. */
export async function expectCostUnder(mostMs: number, work: () => unknown, tries = 3): Promise<void> {
  let ms = Number.POSITIVE_INFINITY
  let limit = mostMs
  for (let round = 1; round <= ROUNDS && ms >= limit; round++) {
    ms = Math.min(ms, await costMs(work, tries))
    if (ms >= mostMs) limit = mostMs * (await slowness())
  }
  expect(ms).toBeLessThan(limit)
}

const ROUNDS = 5

/** The CPU time of the reference work on the machine that the limits were set on. */
const REFERENCE_MS = 0.3

/** → how many times slower this machine is now than the one that the limits were set on, at least 1. */
export async function slowness(): Promise<number> {
  return Math.max(1, (await costMs(referenceWork, 100)) / REFERENCE_MS)
}

/** The limit for work that uses up to `newMb` MB of new memory → the same limit on this machine as it is now. */
export async function limitNow(mostMs: number, newMb: number): Promise<number> {
  return mostMs * (await slowness()) + newMb * (await newMemoryMs())
}

/** → the CPU milliseconds that new memory costs now, for each MB: 0.1 to 0.3, and 4 on a virtual machine that pays for
 *  each page. The memory of WebAssembly is always new; other memory may be what was freed before. */
async function newMemoryMs(): Promise<number> {
  const touch = () => new Uint8Array(new WebAssembly.Memory({ initial: NEW_MB * WASM_PAGES_A_MB }).buffer).fill(1)
  return (await costMs(touch, 5)) / NEW_MB
}

const NEW_MB = 16
const WASM_PAGES_A_MB = 16

const FIELDS = 'Received: from a.example by b.example with ESMTP; Sun, 22 Nov 2026 10:00:00 +0000\r\n'.repeat(1_200)

/** Typical work of parsers: split, search, change case, match, count. */
function referenceWork(): Map<string, number> {
  const lengths = new Map<string, number>()
  for (const line of FIELDS.split('\r\n')) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    lengths.set(name, (lengths.get(name) ?? 0) + line.replace(/\d+/g, '#').length)
  }
  return lengths
}
