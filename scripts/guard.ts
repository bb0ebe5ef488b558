/** Fails when sending a mail costs over 30 % more CPU than scripts/guard-baseline.json says.
 *
 *    bun scripts/guard.ts            measures dist/postrider, or --binary FILE, and compares
 *    bun scripts/guard.ts --renew    measures, and writes the baseline: commit it with the change of the cost
 *
 *  It measures CPU, not time, so other programs may run; and in units of a yardstick that is measured in turn with
 *  it, so that neither the machine nor its load matters. The measure is the CPU to accept a mail of 10 KB, sign it
 *  twice, deliver it and record it, divided by a fixed amount of the same kinds of work. The median of short rounds.
 *  Exit code 1 when the cost grew. */
import { generateKeyPairSync, hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createSignRsa } from '../src/outbound/system-rsa.ts'
import { bodies } from './bench/bodies.ts'
import { median } from './bench/figures.ts'
import { load, startSink } from './bench/peers.ts'
import { until } from './bench/process.ts'
import { openServer, type Server } from './bench/server.ts'

const MAY_GROW = 1.3
/** Until the runtime has compiled the hot code; mail costs more before. */
const WARM_UP = 2_500
const ROUNDS = 9
const MAILS = 400
const DEFAULT_BINARY = join(import.meta.dir, '../dist/postrider')
const BASELINE = join(import.meta.dir, 'guard-baseline.json')

const { values: options } = parseArgs({
  options: { renew: { type: 'boolean', default: false }, binary: { type: 'string', default: DEFAULT_BINARY } },
})
let cost = await measure()
if (options.renew) writeFileSync(BASELINE, `{ "yardsticks_per_mail": ${cost.toFixed(2)} }\n`)
const { yardsticks_per_mail: known } = JSON.parse(readFileSync(BASELINE, 'utf8'))
const isDearer = () => cost > known * MAY_GROW
if (isDearer()) cost = Math.min(cost, await measure()) // the machine may have been busy for a quarter of a minute
console.log(`baseline ${known}: ${(cost / known).toFixed(2)} of it, at most ${MAY_GROW} passes`)
if (isDearer()) console.log('mail became dearer; if that is as it must be: bun scripts/guard.ts --renew')
process.exit(isDearer() ? 1 : 0)

/** → what one mail costs, in yardsticks. */
async function measure(): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'postrider-guard-'))
  const sink = await startSink()
  let server: Server | null = null
  try {
    server = await openServer(options.binary, { scratch, sinkPort: sink.port })
    const mail = bodies.mail(scratch)
    const stick = yardstick(readFileSync(mail, 'utf8'))
    let mails = 0
    const { cpuSeconds } = server
    const sent = async (count: number) => {
      mails += count
      await load(server!, 20, count, mail)
      await until(async () => (await sink.mails()) === mails)
    }
    stick()
    await sent(WARM_UP)
    const costs: number[] = []
    const mailsMs: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const stickMs = stick()
      const before = cpuSeconds()
      await sent(MAILS)
      const mailMs = ((cpuSeconds() - before) / MAILS) * 1000
      mailsMs.push(mailMs)
      costs.push(mailMs / ((stickMs + stick()) / 2))
    }
    const spread = `${Math.min(...costs).toFixed(2)}–${Math.max(...costs).toFixed(2)}`
    console.log(
      `a mail costs ${median(costs).toFixed(2)} yardsticks (${spread}), here ${median(mailsMs).toFixed(2)} ms of CPU`,
    )
    return median(costs)
  } finally {
    await server?.stop()
    sink.end()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The kinds of work in a mail, in fixed amounts and about the same proportions: a signature by the library that the
 *  program would use on this machine, JSON, hashing, compression. It allocates little, waits for nothing and makes
 *  no system calls → a function that runs it a hundred times and returns the CPU time of one in ms. */
function yardstick(json: string): () => number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signRsa = createSignRsa(() => performance.now())
  const bytes = Buffer.from(json)
  const once = () => {
    signRsa(bytes, privateKey)
    for (let time = 0; time < 4; time++) {
      JSON.stringify(JSON.parse(json))
      hash('sha256', bytes)
      Bun.zstdDecompressSync(Bun.zstdCompressSync(bytes, { level: 3 }))
    }
  }
  return () => {
    const before = process.cpuUsage()
    for (let time = 0; time < 100; time++) once()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / 100
  }
}
