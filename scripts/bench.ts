/** Speed and memory of the built program, measured from outside, with the settings that `init` writes plus what a setup on
 *  loopback requires. Load generator, mail sink and webhook receiver are other processes of the machine: compare figures of
 *  one run only.
 *
 *    bun scripts/bench.ts                      the works accept, send, webhooks and inbound, beside the baseline of their CPU
 *    bun scripts/bench.ts --against FILE       the works, in turn with another executable
 *    bun scripts/bench.ts --only send,claim    some works, or parts: backlog, claim, idle, lists, size, cluster, field
 *
 *  - `--rounds`: 9 for works, 3 for parts. `--messages`: of each load, 600 for works, 5,000 for parts.
 *  - `--connections`: of each work, 20. `--binary`: dist/postrider.
 *  - `--strict`: exit code 1 if a work costs over 15 % more CPU than bench/baseline.json says. It counts in RSA-2048
 *    signatures, so that other programs and the speed of the machine matter little. Colder caches still cost something:
 *    accepting costs 0.51 to 0.60 on a calm machine, 0.72 in CI. `--renew` writes the baseline, which is set for CI.
 *  - `--data DIR`: `size` needs a folder with 12 GB, which it fills if it is empty, with a share of that with `--share`.
 *
 *  Exit code 1 when a part failed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { backlog } from './bench/backlog.ts'
import { claim } from './bench/claim.ts'
import { cluster } from './bench/cluster.ts'
import { field } from './bench/field.ts'
import { format, machine, type Row, tablesOf } from './bench/figures.ts'
import { idle } from './bench/idle.ts'
import { lists } from './bench/lists.ts'
import type { Bench, Binary, Part } from './bench/part.ts'
import { WORKS } from './bench/program.ts'
import { size } from './bench/size.ts'
import { measureWorks } from './bench/works.ts'

const PARTS: Part[] = [backlog, claim, idle, lists, ...size, ...cluster, ...field]

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: WORKS.join() },
    rounds: { type: 'string' },
    messages: { type: 'string' },
    connections: { type: 'string', default: '20' },
    binary: { type: 'string', default: join(import.meta.dir, '../dist/postrider') },
    against: { type: 'string' },
    strict: { type: 'boolean', default: false },
    renew: { type: 'boolean', default: false },
    data: { type: 'string' },
    share: { type: 'string', default: '1' },
  },
})
const wanted = options.only.split(',')
const isWanted = (name: string) => wanted.some((group) => name === group || name.startsWith(`${group}.`))
const known = [...WORKS, ...PARTS.map(({ name }) => name)]
const unknown = wanted.filter((group) => !known.some((name) => name === group || name.startsWith(`${group}.`)))
if (unknown.length > 0) throw new Error(`unknown: ${unknown}; there are ${known.join(', ')}`)

const binaries: Binary[] = [{ name: 'this', file: options.binary }]
if (options.against !== undefined) binaries.push({ name: 'against', file: options.against })
console.log(machine())

const works = WORKS.filter(isWanted)
if (works.length > 0) {
  const dearer = await measureWorks(works, {
    files: binaries.map(({ file }) => file),
    rounds: Number(options.rounds ?? 9),
    count: Number(options.messages ?? 600),
    connections: Number(options.connections),
    renews: options.renew,
  })
  if (dearer.length > 0) console.log(`${dearer.join(', ')} became dearer; if that is intended: --renew`)
  if (dearer.length > 0 && options.strict) process.exitCode = 1
}
const parts = PARTS.filter(({ name }) => isWanted(name))
if (parts.length > 0) await measureParts(parts)
process.exit() // a failed part may have left its server running

/** Measures the parts in rounds, and prints their figures. A failure is printed and does not stop the others. */
async function measureParts(chosen: Part[]): Promise<void> {
  const rows = new Map<string, Row>()
  const bench: Bench = {
    scratch: mkdtempSync(join(tmpdir(), 'postrider-bench-')),
    data: options.data ?? null,
    share: Number(options.share),
    messages: Number(options.messages ?? 5_000),
    note: (who, figure, value) => {
      const row = rows.get(figure.what) ?? { ...figure, values: {} }
      const column = who?.name ?? figure.columns?.[0] ?? 'this'
      row.values[column] = [...(row.values[column] ?? []), value]
      rows.set(figure.what, row)
      console.error(`${column}: ${figure.what}: ${format(value)}`)
    },
  }
  for (let round = 0; round < Number(options.rounds ?? 3); round++) {
    for (const part of chosen) {
      if (part.isOnce && round > 0) continue
      try {
        for (const binary of binaries) await part.measure?.(bench, binary)
        await part.beside?.(bench)
      } catch (error) {
        console.error(`${part.name}:`, error)
        process.exitCode = 1
      }
    }
  }
  rmSync(bench.scratch, { recursive: true, force: true })
  console.log(tablesOf([...rows.values()]))
}
