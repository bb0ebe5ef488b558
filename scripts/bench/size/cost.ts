import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone } from '../../../src/cli/try/zone-server.ts'
import { startSink } from '../peers.ts'
import { runProgram } from '../process.ts'
import { type Server, startServer } from './server.ts'

const ROUNDS = 6
const MESSAGES = 2_000

interface Of {
  folder: string
  key: string
}

/** Two folders → CPU seconds of a message in the first divided by those in the second, the median of rounds in
 *  turns: for messages that are only accepted, and for messages that are delivered to a sink at once, with
 *  signatures, attempts and events. */
export async function costOf(binary: string, first: Of, second: Of): Promise<{ accepted: number; delivered: number }> {
  const scratch = mkdtempSync(join(tmpdir(), 'postrider-cost-'))
  const sink = await startSink()
  const zone = await startZone([
    { name: 'sink.example', type: 'MX', data: { preference: 10, exchange: 'mx.sink.example' } },
    { name: 'mx.sink.example', type: 'A', data: '127.0.0.1' },
  ])
  const more = ['[dns]', `servers = ["${zone.address}"]`]
  const servers = await Promise.all(
    [first, second].map(async ({ folder, key }) => ({
      key,
      server: await startServer(binary, folder, more, [`port = ${sink.port}`]),
    })),
  )
  try {
    const accepted = await ratio(servers, (each) => load(each, scratch, true))
    const delivered = await ratio(servers, async (each) => {
      const before = await sink.mails()
      await load(each, scratch, false)
      while ((await sink.mails()) < before + MESSAGES) await Bun.sleep(5)
    })
    return { accepted, delivered }
  } finally {
    for (const { server } of servers) await server.stop()
    await zone.stop()
    sink.end()
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Served = { key: string; server: Server }

async function ratio(servers: Served[], work: (server: Served) => Promise<void>): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const spent: number[] = []
    for (const each of servers) {
      const before = each.server.cpuSeconds()
      await work(each)
      spent.push(each.server.cpuSeconds() - before)
    }
    console.error(`CPU s per 1,000: ${spent.map((seconds) => ((seconds / MESSAGES) * 1_000).toFixed(3)).join(' and ')}`)
    // The first round compiles the hot code.
    if (round > 0) ratios.push(spent[0]! / spent[1]!)
  }
  return ratios.sort((a, b) => a - b)[ratios.length >> 1]!
}

async function load({ server, key }: Served, scratch: string, isHeld: boolean): Promise<void> {
  const file = join(scratch, `${isHeld ? 'held' : 'sent'}.json`)
  const html = `<p>${'Thank you for your order. '.repeat(200)}</p>`
  const message = { from: 'hello@big0.example', to: 'ann@sink.example', subject: 'order', metadata: { order: 7 }, html }
  const later = new Date(Date.now() + 86_400_000).toISOString()
  writeFileSync(file, JSON.stringify(isHeld ? { ...message, scheduled_at: later } : message))
  await runProgram('load', server.http, key, '10', String(MESSAGES), file)
}
