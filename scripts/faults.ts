/** Injects faults into the built program: what was answered with 202 or 250 must survive them.
 *
 *    bun scripts/faults.ts [--only kill,points,power,disk,io,corrupt,upgrade,lock,retries,files,hostile,stranger,tenant,idle,bodies,inbound,ceiling,soak,cluster]
 *                          [--rounds N] [--short] [--program FILE] [--plant]
 *
 *  `cluster` stands for all faults of two nodes on one PostgreSQL, such as `cluster.nodes`.
 *
 *  With --short, limits of time, which other programs of the machine may violate, are only reported. So faults of the
 *  cluster are then injected in one process, and the others in another beside it.
 *
 *  Prints one line for each fault with its figures and the violated promises. A fault that violates nothing but limits
 *  of time is injected once more. Without --short it takes long: 200 kills, 20 power losses, 50 corruptions, a soak of
 *  two hours. A fault that the machine cannot inject is skipped with a line that says why; REAL_PEERS=required makes
 *  that a failure. --plant violates the promise of `kill`, to show that the check detects it. Exit code 1 with violated
 *  promises. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cluster } from '../test/faults/cluster/index.ts'
import { bodies } from '../test/faults/long/bodies.ts'
import { ceiling } from '../test/faults/long/ceiling.ts'
import { corrupt } from '../test/faults/long/corrupt.ts'
import { descriptors } from '../test/faults/long/descriptors.ts'
import { canMount, disk } from '../test/faults/long/disk.ts'
import type { Bench, Fault, Need } from '../test/faults/long/fault.ts'
import { hostile } from '../test/faults/long/hostile.ts'
import { idle } from '../test/faults/long/idle.ts'
import { inbound } from '../test/faults/long/inbound.ts'
import { io } from '../test/faults/long/io.ts'
import { kill } from '../test/faults/long/kill.ts'
import { lock } from '../test/faults/long/lock.ts'
import { points } from '../test/faults/long/points.ts'
import { power } from '../test/faults/long/power.ts'
import { retries } from '../test/faults/long/retries.ts'
import { soak } from '../test/faults/long/soak.ts'
import { hasStrace } from '../test/faults/long/strace.ts'
import { stranger } from '../test/faults/long/stranger.ts'
import { tenant } from '../test/faults/long/tenant.ts'
import { upgrade } from '../test/faults/long/upgrade.ts'
import { upgradeKills } from '../test/faults/long/upgrade-kills.ts'
import { PROGRAM } from '../test/faults/setup.ts'
import { postgresPrograms } from '../test/support/postgres.ts'

const FAULTS: Fault[] = [
  kill,
  points,
  power,
  disk,
  io,
  corrupt,
  upgrade,
  upgradeKills,
  lock,
  retries,
  descriptors,
  hostile,
  stranger,
  tenant,
  idle,
  bodies,
  inbound,
  ceiling,
  soak,
  ...cluster,
]

/** Of the names. */
const WIDTH = 16

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: FAULTS.map(({ name }) => name).join(',') },
    rounds: { type: 'string' },
    short: { type: 'boolean', default: false },
    program: { type: 'string', default: PROGRAM },
    plant: { type: 'boolean', default: false },
  },
})
const wanted = options.only.split(',')
const isOf = (name: string, group: string) => name === group || name.startsWith(`${group}.`)
const unknown = wanted.filter((group) => !FAULTS.some(({ name }) => isOf(name, group)))
if (unknown.length > 0) {
  console.error(`faults: unknown fault ${unknown}`)
  process.exit(2)
}
const has: Record<Need, boolean> = {
  strace: hasStrace(),
  mount: canMount(),
  postgres: postgresPrograms() !== null,
  cc: Bun.which('cc') !== null,
}
const chosen = FAULTS.filter(({ name }) => wanted.some((group) => isOf(name, group)))
const lanes = options.short ? [...Map.groupBy(chosen, ({ name }) => isOf(name, 'cluster')).values()] : []
if (lanes.length > 1) await Promise.all(lanes.map(runLane))
else for (const fault of chosen) await make(fault)

/** Runs faults in a process of their own, one after the other. */
async function runLane(faults: readonly Fault[]): Promise<void> {
  const only = faults.map(({ name }) => name).join()
  const child = Bun.spawn([process.execPath, import.meta.path, ...Bun.argv.slice(2), '--only', only], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if ((await child.exited) !== 0) process.exitCode = 1
}

async function make({ name, needs, rounds, run }: Fault): Promise<void> {
  const count = Number(options.rounds ?? (options.short ? rounds.short : rounds.long))
  if (count === 0) return
  const missing = needs.filter((need) => !has[need])
  if (missing.length > 0) {
    const isFailure =
      process.env.REAL_PEERS === 'required' && missing.some((need) => need === 'strace' || need === 'postgres')
    if (isFailure) process.exitCode = 1
    console.log(`${name.padEnd(WIDTH)} ${isFailure ? 'BROKEN' : 'SKIPPED'}  requires ${missing.join(' and ')}`)
    return
  }
  const scratch = mkdtempSync(join(tmpdir(), 'postrider-faults-'))
  const notes: string[] = []
  const beganAt = performance.now()
  try {
    const bench: Bench = {
      rounds: count,
      program: options.program,
      scratch,
      note: (line) => notes.push(line),
      isPlanted: options.plant,
    }
    let verdict = await run(bench)
    if (!options.short && verdict.broken.length === 0 && verdict.slow?.length) {
      notes.push(`once more after: ${verdict.slow.join('; ')}`)
      verdict = await run(bench)
    }
    const { figures, slow = [] } = verdict
    if (options.short) notes.push(...slow.map((line) => `slow: ${line}`))
    const broken = options.short ? verdict.broken : [...verdict.broken, ...slow]
    const seconds = ((performance.now() - beganAt) / 1000).toFixed(0)
    console.log(`${name.padEnd(WIDTH)} ${broken.length === 0 ? 'ok    ' : 'BROKEN'}  ${figures} (${seconds} s)`)
    for (const line of broken) console.log(`${' '.repeat(WIDTH + 1)}✗ ${line}`)
    if (broken.length > 0) process.exitCode = 1
  } catch (error) {
    console.log(`${name.padEnd(WIDTH)} BROKEN  ${error instanceof Error ? error.stack || error : error}`)
    process.exitCode = 1
  } finally {
    for (const line of notes) console.log(`${' '.repeat(WIDTH + 1)}${line}`)
    rmSync(scratch, { recursive: true, force: true })
  }
}
process.exit()
