/** Speed and memory of the compiled binary, measured from outside, with the settings that `init` writes plus what a
 *  setup on loopback requires: every mail durable before its 202, both DKIM signatures, attempts and events
 *  recorded.
 *
 *    bun scripts/bench.ts [--only accept,send,…] [--rounds 3] [--messages 5000] [--against FILE] [--keep FILE] [--markdown]
 *
 *  Prints the machine, then median (min–max) of the rounds with the goal of each. With `--against` an earlier
 *  binary runs in turn with this one; with `--only paired` in stretches of a second. `--keep` adds to the values in
 *  FILE, so that parts can be measured one at a time and still form one table; `--rounds 0` only prints it.
 *  `--markdown` prints the table of the manual's page `performance`. Generator, sink and receiver are separate
 *  processes on the same machine: compare within one run only. `--only size --data DIR` measures with a million
 *  queued messages (bench/size.ts), which takes twelve gigabytes in the folder; `--only cluster` compares a node on
 *  PostgreSQL with one on SQLite (bench/cluster.ts); `--only addresses` eight sending addresses with one;
 *  `--only field --data DIR` measures other mail servers too (bench/field.ts); `--only install --data DIR
 *  [--release FOLDER]` installs on a clean Debian (bench/install.ts), which it keeps in DIR. Exit code 1 when a part
 *  failed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { accept } from './bench/accept.ts'
import { addresses, paired } from './bench/addresses.ts'
import { analysis } from './bench/analysis.ts'
import { claim } from './bench/claim.ts'
import { cluster } from './bench/cluster.ts'
import { dns } from './bench/dns.ts'
import { field } from './bench/field.ts'
import { createFigures } from './bench/figures.ts'
import { footprint } from './bench/footprint.ts'
import { inbound } from './bench/inbound.ts'
import { install } from './bench/install.ts'
import { isolation } from './bench/isolation.ts'
import { latency } from './bench/latency.ts'
import { lists } from './bench/lists.ts'
import { pages } from './bench/pages.ts'
import type { Bench, Binary, Part } from './bench/part.ts'
import { send } from './bench/send.ts'
import { streams } from './bench/streams.ts'
import { waiting } from './bench/waiting.ts'
import { webhooks } from './bench/webhooks.ts'

const QUICK: Part[] = [send, accept, isolation, claim, webhooks, inbound, latency, footprint]
const PARTS: Part[] = [
  ...QUICK,
  addresses,
  analysis,
  dns,
  install,
  lists,
  paired,
  pages,
  streams,
  waiting,
  ...cluster,
  ...field,
]

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: QUICK.map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '5000' },
    against: { type: 'string' },
    data: { type: 'string' },
    release: { type: 'string' },
    keep: { type: 'string' },
    markdown: { type: 'boolean', default: false },
  },
})
const parts = options.only.split(',').flatMap((wanted) => {
  const found = PARTS.filter(({ name }) => name === wanted || name.startsWith(`${wanted}.`))
  if (found.length === 0)
    throw new Error(`unknown part ${wanted}; the parts are ${PARTS.map(({ name }) => name).join(', ')}`)
  return found
})
const binaries: Binary[] = [
  { name: 'this', file: join(import.meta.dir, '../dist/postrider') },
  ...(options.against === undefined ? [] : [{ name: 'against' as const, file: options.against }]),
]
const figures = createFigures(options.keep ?? null)
const scratch = mkdtempSync(join(tmpdir(), 'postrider-bench-'))

try {
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const part of parts) await measure(part, round)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(options.markdown ? figures.asMarkdown() : figures.asText())
process.exit() // a failed part may have left its server running

/** One part in one round. A failure is printed and does not stop the others. */
async function measure(part: Part, round: number): Promise<void> {
  const bench: Bench = {
    scratch,
    data: options.data ?? null,
    release: options.release ?? null,
    against: options.against ?? null,
    messages: Number(options.messages),
    round,
    note: (who, figure, value) => figures.note(who?.name ?? 'machine', figure, value),
    noted: (who, figure) => figures.latest(who.name, figure),
  }
  try {
    for (const binary of binaries) await part.measure?.(bench, binary)
    await part.beside?.(bench)
    if (options.keep !== undefined) figures.keep(options.keep)
  } catch (error) {
    console.error(`${part.name}:`, error)
    process.exitCode = 1
  }
}
