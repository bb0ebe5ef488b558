/** The cost of a piece of work: CPU milliseconds of this process, the minimum of `tries`. Other programs do not
 *  count, and the minimum excludes most of the garbage collector and the compiler. (The CPU time of a single thread
 *  is only known to some milliseconds.) */
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

/** The CPU time of the reference work on the machine that the limits were set on. */
const REFERENCE_MS = 0.3

/** → how many times slower this machine is than the one that the limits were set on, at least 1. */
export async function slowness(): Promise<number> {
  return Math.max(1, (await costMs(referenceWork, 100)) / REFERENCE_MS)
}

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
