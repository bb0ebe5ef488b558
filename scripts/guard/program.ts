import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodies } from '../bench/bodies.ts'
import { authorsMail } from '../bench/inbound.ts'
import { deliver, load, startReceiver, startSink, subscribe } from '../bench/peers.ts'
import { until } from '../bench/process.ts'
import { create, openServer, type Server } from '../bench/server.ts'
import { type Cpu, countCpu, settled } from './cpu.ts'

/** What only happens in that phase: mail accepted for tomorrow; mail accepted, signed twice, delivered and recorded; the
 *  webhook posts of delivered events; mail received by SMTP, checked and stored. */
export const PHASES = ['accept', 'mail', 'post', 'inbound'] as const
export type Phase = (typeof PHASES)[number]

/** A running program with the peers of all phases. */
export interface Program {
  pid: number
  /** Runs about that many units of a phase → the CPU time of one. */
  measure(phase: Phase, count: number): Promise<Cpu>
  end(): Promise<void>
}

/** The executable `file` → the program, started in a folder of its own. */
export async function openProgram(file: string): Promise<Program> {
  const scratch = mkdtempSync(join(tmpdir(), 'postrider-guard-'))
  const [sink, receiver] = [await startSink(), await startReceiver(scratch)]
  const { small, zone } = authorsMail(scratch)
  const settings = { scratch, sinkPort: sink.port, caFile: receiver.caFile, zone, isOpen: true, mayScheduleAll: true }
  const server = await openServer(file, settings)
  await create(server, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action: STORE })
  const webhook = (await subscribe(server, receiver.url)) as { id: string }
  await call(server, 'PATCH', `/v1/webhooks/${webhook.id}`, { status: 'paused' })
  const files = { accept: bodies.held(scratch), mail: bodies.mail(scratch) }
  let [mails, posts, postedUntil] = [0, 0, new Date()]

  /** Each returns how many units it ran. */
  const run: Record<Phase, (count: number) => Promise<number>> = {
    accept: async (count) => {
      await load(server, 20, count, files.accept)
      return count
    },
    mail: async (count) => {
      mails += count
      await load(server, 20, count, files.mail)
      await until(async () => (await sink.mails()) === mails)
      return count
    },
    // The events since the last time: on a busy machine, those of the last mails may come only later.
    post: async () => {
      const from = postedUntil
      postedUntil = new Date()
      await call(server, 'PATCH', `/v1/webhooks/${webhook.id}`, { status: 'active' })
      const { queued } = await call(server, 'POST', `/v1/webhooks/${webhook.id}/replay`, { from, to: postedUntil })
      posts += Number(queued)
      await until(async () => (await receiver.posts()) >= posts)
      await call(server, 'PATCH', `/v1/webhooks/${webhook.id}`, { status: 'paused' })
      return Number(queued)
    },
    inbound: async (count) => {
      await deliver(server, 20, count, small)
      return count
    },
  }
  return {
    pid: server.pid,
    measure: async (phase, count) => {
      const cpu = countCpu(server.pid)
      const units = await run[phase](count)
      await settled(server.pid)
      const { all, main } = cpu()
      return { all: all / units, main: main / units }
    },
    end: async () => {
      await server.stop()
      sink.end()
      receiver.end()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

const STORE = { type: 'store', config: {} }

/** Calls the API → the response. Rejects at a refusal. */
async function call({ http, key }: Server, method: string, path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`http://${http}${path}`, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}
