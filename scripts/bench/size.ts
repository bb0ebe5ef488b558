/** A million queued messages and ten million past events: what the server costs then, compared with its goals.
 *
 *    bun scripts/bench/size.ts --data DIR [--share 1] [--only start,claim,lists,load,retention,cost] [--filter TEXT]
 *
 *  An empty DIR is seeded (five minutes, twelve gigabytes; a share of that with `--share`), otherwise used again;
 *  seed a new one after a day, because its messages become due. `retention` removes the oldest day of it. Each part
 *  takes up to two minutes. `cost` compares with a small folder, to show how the cost grows. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startZone } from '../../src/cli/try/zone-server.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { runProgram } from './process.ts'
import { timeClaims } from './size/claims.ts'
import { costOf } from './size/cost.ts'
import { DAY_MS, scaled } from './size/dataset.ts'
import { timeLists } from './size/lists.ts'
import { type Seeded, seed } from './size/seed.ts'
import { type Server, startServer } from './size/server.ts'
import { ownStalls, type Stalls, stallsDuring } from './size/stalls.ts'

export interface Figure {
  figure: string
  value: number
  /** The maximum. */
  goal?: number
}

const PARTS = { start, claim, lists, load, retention, cost }
export type Part = keyof typeof PARTS
export const SIZE_PARTS = Object.keys(PARTS) as Part[]

interface SizeContext {
  binary: string
  folder: string
  seeded: Seeded
  filter: string
}

/** A binary and a folder, seeded if it is empty → the figures of a part. */
export async function measureSize(
  part: Part,
  { binary, folder, share = 1, filter = '' }: { binary: string; folder: string; share?: number; filter?: string },
): Promise<Figure[]> {
  const stored = join(folder, 'seeded.json')
  if (!existsSync(stored)) await seed(binary, folder, scaled(share))
  const seeded = JSON.parse(readFileSync(stored, 'utf8')) as Seeded
  return PARTS[part]({ binary, folder, seeded, filter })
}

async function start({ binary, folder }: SizeContext): Promise<Figure[]> {
  const figures: Figure[] = []
  for (let round = 0; round < 5; round++) {
    await served(binary, folder, [], async (server) => {
      await Bun.sleep(3_000)
      figures.push({ figure: 'start to ready, ms', value: server.readyMs, goal: 1_000 })
      figures.push({ figure: 'memory, idle, MB', value: server.residentMb(), goal: 300 })
    })
  }
  return figures
}

async function claim({ folder, seeded }: SizeContext): Promise<Figure[]> {
  const dataDir = join(folder, 'data')
  const figures: Figure[] = []
  for (const areHalfFull of [false, true]) {
    const { openMs, firstMs, medianMs, p95Ms } = await timeClaims(dataDir, seeded, areHalfFull)
    const when = areHalfFull ? ' with half of the destinations full' : ''
    figures.push(
      { figure: 'opening the store, ms', value: openMs },
      { figure: `first claim${when}, ms`, value: firstMs },
      { figure: `claim${when}, median ms`, value: medianMs, goal: 1 },
      { figure: `claim${when}, p95 ms`, value: p95Ms },
    )
  }
  return figures
}

async function lists({ binary, folder, seeded, filter }: SizeContext): Promise<Figure[]> {
  return served(binary, folder, [], async (server) => {
    const timed = await timeLists(server.http, seeded, filter)
    const figures = timed.map(({ kind, p95Ms }) => ({ figure: `${kind}, p95 ms`, value: p95Ms, goal: 50 }))
    return [...figures, { figure: 'memory after all lists, MB', value: server.residentMb(), goal: 300 }]
  })
}

/** Statistics, checkpoints and the search index while mail is accepted, then a large mail. */
async function load({ binary, folder, seeded }: SizeContext): Promise<Figure[]> {
  return served(binary, folder, [], async (server) => {
    const post = (count: number, connections: number) => accept(server, seeded.big.key, count, connections)
    await post(2_000, 10)
    const idle = await stallsDuring(server, () => Bun.sleep(5_000))
    const busy = await stallsDuring(server, () => post(30_000, 10))
    // Accepted mail is indexed and merged while the server is idle.
    const after = await stallsDuring(server, () => Bun.sleep(25_000))
    return [
      ...stallFigures('idle', idle),
      ...stallFigures('while accepting on 10 connections', busy),
      ...stallFigures('while indexing the accepted mail', after),
      { figure: 'memory after accepting, MB', value: server.residentMb(), goal: 300 },
    ]
  })
}

/** Removing the oldest day, which starts a minute after the start. */
async function retention({ binary, folder }: SizeContext): Promise<Figure[]> {
  const db = connect(join(folder, 'data/postrider.db'), { busyTimeoutMs: 5_000, readonly: true })
  const oldest = db.prepare('select created_at from messages order by number limit 1').pluck().get() as number
  db.close()
  const days = Math.round((Date.now() - oldest) / DAY_MS) - 1
  return served(binary, folder, ['[plans.enterprise]', `retention_days = ${days}`], async (server) => {
    await Bun.sleep(58_000)
    const stalls = await stallsDuring(server, () => Bun.sleep(80_000))
    const when = 'while retention removes a day'
    return [...stallFigures(when, stalls), longestOwn(when, stalls)]
  })
}

/** CPU of a message here and with a thousandth of the data, in turns. */
async function cost({ binary, folder, seeded }: SizeContext): Promise<Figure[]> {
  const small = mkdtempSync(join(tmpdir(), 'postrider-small-'))
  try {
    await seed(binary, small, scaled(0.001))
    const smallSeeded = JSON.parse(readFileSync(join(small, 'seeded.json'), 'utf8')) as Seeded
    const big = { folder, key: seeded.big.key }
    const { accepted, delivered } = await costOf(binary, big, { folder: small, key: smallSeeded.big.key })
    return [
      { figure: 'accepting: CPU with a million queued ÷ with a thousand', value: accepted, goal: 1.15 },
      { figure: 'accepting and delivering: the same', value: delivered, goal: 1.15 },
    ]
  } finally {
    rmSync(small, { recursive: true, force: true })
  }
}

function stallFigures(when: string, stalls: Stalls): Figure[] {
  const own = Object.values(ownStalls(stalls))
  return [
    { figure: `main thread ${when}, p99 ms`, value: stalls.p99Ms },
    { figure: `main thread ${when}, longest ms`, value: stalls.worstMs },
    {
      figure: `main thread ${when}, stalls over 25 ms of its own`,
      value: own.reduce((sum, { times }) => sum + times, 0),
      goal: 0,
    },
    ...Object.entries(stalls.causes).map(([cause, { times, worstMs }]) => ({
      figure: `  ${times} × ${cause}, longest ms`,
      value: worstMs,
    })),
  ]
}

/** The delays that the machine caused do not count. Their causes are recorded over 25 ms. */
function longestOwn(when: string, stalls: Stalls): Figure {
  const own = Object.values(ownStalls(stalls)).map(({ worstMs }) => worstMs)
  const value = own.length > 0 ? Math.max(...own) : Math.min(stalls.worstMs, 25)
  return { figure: `main thread ${when}, longest wait of its own, ms`, value, goal: 25 }
}

async function served<T>(
  binary: string,
  folder: string,
  more: string[],
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const zone = await startZone([])
  const server = await startServer(binary, folder, ['[dns]', `servers = ["${zone.address}"]`, ...more])
  try {
    return await work(server)
  } finally {
    await server.stop()
    await zone.stop()
  }
}

/** Messages for tomorrow, so that they are only accepted. */
async function accept(server: Server, key: string, count: number, connections: number): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), 'postrider-body-')), 'body.json')
  const message = { from: 'hello@big0.example', to: 'ann@d7.example', subject: 'order', metadata: { order: 7 } }
  const html = `<p>${'Thank you for your order. '.repeat(200)}</p>`
  writeFileSync(file, JSON.stringify({ ...message, html, scheduled_at: new Date(Date.now() + DAY_MS).toISOString() }))
  await runProgram('load', server.http, key, String(connections), String(count), file)
  rmSync(join(file, '..'), { recursive: true })
}

if (import.meta.main) {
  const { values: options } = parseArgs({
    options: {
      data: { type: 'string' },
      share: { type: 'string', default: '1' },
      only: { type: 'string', default: SIZE_PARTS.join(',') },
      filter: { type: 'string', default: '' },
      binary: { type: 'string', default: join(import.meta.dir, '../../dist/postrider') },
    },
  })
  if (options.data === undefined) throw new Error('missing --data: a folder, which is seeded if it is empty')
  const { data: folder, binary, filter } = options
  for (const part of options.only.split(',') as Part[]) {
    for (const { figure, value, goal } of await measureSize(part, {
      folder,
      binary,
      filter,
      share: Number(options.share),
    })) {
      const judged = goal === undefined ? '' : value <= goal ? `  ≤ ${goal}` : `  missed: ${goal}`
      console.log(`${figure.padEnd(70)} ${value.toFixed(value < 10 ? 2 : 1).padStart(9)}${judged}`)
    }
  }
  process.exit(0)
}
