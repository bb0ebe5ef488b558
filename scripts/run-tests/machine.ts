import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a calm machine with two cores takes for each, in milliseconds. */
const CALM = { startMs: 12, writeMs: 0.7, countMs: 30 }
const ROUNDS = 20
const MOST = 20

/** How many times slower this machine is at present than a calm one with two cores: of starting a process, of writing
 *  to the disk and of counting, the slowest, as a median. At least 1, at most 20. */
export function measureSlowness(): number {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-slowness-'))
  const file = openSync(join(folder, 'file'), 'w')
  try {
    const startMs = median(() => Bun.spawnSync([process.execPath, '--version']))
    const writeMs = median(() => {
      writeSync(file, 'a line\n')
      fdatasyncSync(file)
    })
    const countMs = median(count)
    return Math.min(MOST, Math.max(1, startMs / CALM.startMs, writeMs / CALM.writeMs, countMs / CALM.countMs))
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

function count(): number {
  let sum = 0
  for (let n = 0; n < 30_000_000; n++) sum = (sum + n) | 0
  return sum
}

function median(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now()
    work()
    return performance.now() - startedAt
  })
  return times.sort((a, b) => a - b)[ROUNDS / 2]!
}
