import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodies } from './bodies.ts'
import { countCpu, settled } from './cpu.ts'
import { authorsMail } from './inbound.ts'
import { deliver, load, startReceiver, startSink, subscribe } from './peers.ts'
import { until } from './process.ts'
import { create, openServer, request } from './server.ts'

/** What each work does alone: mail of 10 KB accepted for tomorrow; such mail accepted, signed twice, delivered and recorded;
 *  the webhook posts of delivered mail; signed mail received by SMTP, checked and stored. */
export const WORKS = ['accept', 'send', 'webhooks', 'inbound'] as const
export type Work = (typeof WORKS)[number]

export interface Sample {
  perSecond: number
  /** CPU of one mail or post: of all threads and processes, and of the main thread alone. */
  cpuMs: number
  mainMs: number
}

/** A running program with the peers of all works. */
export interface Program {
  /** Does a work about `count` times, over that many connections. */
  measure(work: Work, count: number, connections: number): Promise<Sample>
  end(): Promise<void>
}

/** The executable `file` → the program, started in a folder of its own. */
export async function openProgram(file: string): Promise<Program> {
  const scratch = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
  const [sink, receiver] = [await startSink(), await startReceiver(scratch)]
  const { small, zone } = authorsMail(scratch)
  const settings = { scratch, sinkPort: sink.port, caFile: receiver.caFile, zone, isOpen: true, mayScheduleAll: true }
  const server = await openServer(file, settings)
  const action = { type: 'store', config: {} }
  await create(server, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action })
  const webhook = `/v1/webhooks/${(await subscribe(server, receiver.url)).id}`
  await request(server, 'PATCH', webhook, { status: 'paused' })
  const files = { held: bodies.held(scratch), mail: bodies.mail(scratch) }
  let [mails, unposted, posts, postedUntil] = [0, 0, 0, new Date()]

  const send = async (count: number, connections: number) => {
    mails += count
    unposted += count
    await load(server, connections, count, files.mail)
    await until(async () => (await sink.mails()) === mails)
    return count
  }
  /** Each returns how many times it did the work. */
  const run: Record<Work, (count: number, connections: number) => Promise<number>> = {
    accept: async (count, connections) => {
      await load(server, connections, count, files.held)
      return count
    },
    send,
    // The events since the last time. On a busy machine, those of the last mails come only later.
    webhooks: async () => {
      const from = postedUntil
      unposted = 0
      postedUntil = new Date()
      await request(server, 'PATCH', webhook, { status: 'active' })
      const { queued } = await request(server, 'POST', `${webhook}/replay`, { from, to: postedUntil })
      posts += Number(queued)
      await until(async () => (await receiver.posts()) >= posts)
      await request(server, 'PATCH', webhook, { status: 'paused' })
      return Number(queued)
    },
    inbound: async (count, connections) => {
      await deliver(server, connections, count, small)
      return count
    },
  }
  return {
    measure: async (work, count, connections) => {
      if (work === 'webhooks' && unposted < count) await send(count - unposted, connections)
      await settled(server.pid)
      const cpu = countCpu(server.pid)
      const startedAt = performance.now()
      const times = await run[work](count, connections)
      const seconds = (performance.now() - startedAt) / 1000
      await settled(server.pid)
      const { all, main } = cpu()
      return { perSecond: times / seconds, cpuMs: all / times, mainMs: main / times }
    },
    end: async () => {
      await server.stop()
      sink.end()
      receiver.end()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
