import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bodies } from './bodies.ts'
import { openPostfix } from './field/postfix.ts'
import type { Figure } from './figures.ts'
import type { Bench, Part } from './part.ts'
import { type LoadResult, load, startSink } from './peers.ts'
import { until } from './process.ts'
import { openServer } from './server.ts'

/** A mail server that sends to the sink, or that accepts everything and keeps it. */
export interface Running {
  /** Hands in that many mails of 10 KB → when all are accepted. */
  send(connections: number, count: number): Promise<LoadResult>
  /** User and system time of all its processes so far. */
  cpuSeconds(): number
  stop(): Promise<void>
}

/** How it is opened, in a folder that every user of the machine may enter. */
export interface Stage {
  folder: string
  sinkPort: number
  isHeld: boolean
}

interface Contender {
  name: string
  /** Mails of each load, for some seconds of it. */
  mails: { warmUp: number; sent: number; accepted: number }
  open(stage: Stage): Promise<Running>
}

/** Postrider beside Postfix, with and without OpenDKIM, one after the other. As root, on Debian 12:
 *
 *    apt-get install -y --no-install-recommends postfix opendkim && systemctl disable --now postfix opendkim
 *
 *  Mail arrives at Postrider by HTTP: it composes it, signs it twice, and records attempts and events. */
export const field: Part[] = [
  {
    name: 'field',
    measure: async (bench, binary) => {
      if (binary.name === 'against') return // a column is one server
      for (const contender of [{ ...OURS, open: (stage: Stage) => openOurs(binary.file, stage) }, POSTFIX, SIGNING]) {
        try {
          await measure(bench, contender)
        } catch (error) {
          console.error(`${contender.name}:`, error)
          process.exitCode = 1
        }
      }
    },
  },
]

const OURS = { name: 'Postrider', mails: { warmUp: 5_000, sent: 6_000, accepted: 20_000 } }
const POSTFIX: Contender = {
  name: 'Postfix',
  mails: { warmUp: 300, sent: 3_000, accepted: 6_000 },
  open: (stage) => openPostfix(stage, false),
}
const SIGNING: Contender = {
  name: 'Postfix + OpenDKIM',
  mails: { warmUp: 300, sent: 2_000, accepted: 3_000 },
  open: (stage) => openPostfix(stage, true),
}

const columns = [OURS.name, POSTFIX.name, SIGNING.name]
const SENT: Figure = { what: 'sent end to end per second, 10 KB HTML, 20 connections', columns }
const CPU: Figure = { what: 'CPU seconds for 1,000 sent', columns }
const ACCEPTED: Figure = { what: 'accepted per second, durable, 50 connections, delivery held', columns }

async function measure({ scratch, messages, note }: Bench, { name, mails, open }: Contender): Promise<void> {
  const share = messages / 5_000
  const [warmUp, sent, accepted] = [mails.warmUp, mails.sent, mails.accepted].map((each) => Math.ceil(each * share))
  const sink = await startSink()
  const inFolder = async (isHeld: boolean, work: (server: Running) => Promise<void>) => {
    chmodSync(scratch, 0o711)
    const folder = mkdtempSync(join(scratch, 'field-'))
    chmodSync(folder, 0o755)
    const server = await open({ folder, sinkPort: sink.port, isHeld })
    try {
      await work(server)
    } finally {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
  await inFolder(false, async (server) => {
    const passOn = async (count: number) => {
      const before = await sink.mails()
      const startedAt = performance.now()
      await server.send(20, count)
      await until(async () => (await sink.mails()) >= before + count)
      return (count / (performance.now() - startedAt)) * 1000
    }
    await passOn(warmUp!)
    const cpuBefore = server.cpuSeconds()
    note({ name }, SENT, await passOn(sent!))
    note({ name }, CPU, ((server.cpuSeconds() - cpuBefore) / sent!) * 1000)
  })
  await inFolder(true, async (server) => {
    await server.send(50, warmUp!)
    note({ name }, ACCEPTED, (await server.send(50, accepted!)).perSecond)
  })
  sink.end()
}

async function openOurs(file: string, { folder, sinkPort, isHeld }: Stage): Promise<Running> {
  const server = await openServer(file, { scratch: folder, sinkPort, mayScheduleAll: true })
  const body = isHeld ? bodies.held(folder) : bodies.mail(folder)
  return {
    send: (connections, count) => load(server, connections, count, body),
    cpuSeconds: server.cpuSeconds,
    stop: () => server.stop(),
  }
}
