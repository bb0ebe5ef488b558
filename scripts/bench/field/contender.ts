import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { ZoneRecord } from '../../../src/platform/zone-server.ts'
import { bodies } from '../bodies.ts'
import { until } from '../process.ts'
import { deliver, type LoadResult, type startSink } from '../world.ts'
import { makeGroup } from './group.ts'

/** A mail server of the field, each in a file of its own beside this one. */
export interface Contender {
  /** Its column. */
  name: string
  /** Files that it needs, each with the package that has it. `tools` is the folder of `--data`. */
  needs(tools: string): Record<string, string>
  /** Mails of each load, for some seconds of it; a load that it has none for passes it over. */
  mails: { warmUp: number; sent: number; accepted: number; healthy?: number; taken?: number }
  open(stage: Stage): Promise<Running>
}

/** What a contender is given to run in. */
export interface Stage {
  /** An empty folder that every user of the machine may enter, for its configuration and spool. */
  folder: string
  /** The folder of `--data`. */
  tools: string
  manner: Manner
  /** The mail server that takes everything. */
  sink: Awaited<ReturnType<typeof startSink>>
  /** What DNS says; all but ours are asked to ask `NAME_SERVER`. Empty where nobody asks. */
  names: ZoneRecord[]
  /** The mail that is brought by SMTP, and to whom. */
  mail: { file: string; to: string }
}

/** `relay`: all goes to the sink. `hold`: all is taken and stays. `route`: each goes to the host that DNS names, all at the
 *  sink's port. `check`: what the world brings gets its verdicts and goes on. */
export type Manner = 'relay' | 'hold' | 'route' | 'check'

export interface Running {
  /** Brings so many mails over so many connections → when all are taken. */
  bring(connections: number, count: number): Promise<LoadResult>
  /** Brings a mail of 1 KB to each of the addresses. */
  bringTo(addresses: string[]): Promise<void>
  /** Mails that went on until now. */
  passedOn(): Promise<number>
  /** User and system time of all its processes until now. */
  cpuSeconds(): number
  stop(): Promise<void>
}

/** Where a resolver that cannot be told a port finds the names. */
export const NAME_SERVER = { host: '127.0.53.1', port: 53 }

/** Daemons that together are a mail server on a port → the server, once it greets there. They stay in the foreground; what
 *  they print goes to `log` in the folder. Rejects, with the end of it, when one of them ends. */
export async function startDaemons(
  { folder, sink, names, mail }: Stage,
  { port, commands, isStepwise = false }: Daemons,
): Promise<Running> {
  const group = makeGroup()
  const log = `${folder}/log`
  const failed = commands.map(async (command) => {
    await group.run(names.length === 0 ? command : askingUs(folder, command), log)
    throw new Error(`${command[0]} ended:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
  })
  try {
    await Promise.race([until(() => greets(port)), ...failed])
  } catch (error) {
    await group.end()
    throw error
  }
  const extra = isStepwise ? 'stepwise' : ''
  const door = { smtpInbound: `127.0.0.1:${port}` }
  return {
    bring: (connections, count) => deliver(door, connections, count, mail.file, mail.to, extra),
    bringTo: async (addresses) => {
      const list = `${folder}/addresses`
      writeFileSync(list, addresses.join('\n'))
      await deliver(door, 20, addresses.length, bodies.smtp(folder, 1_024), `@${list}`, extra)
    },
    passedOn: sink.mails,
    cpuSeconds: group.cpuSeconds,
    stop: group.end,
  }
}

interface Daemons {
  port: number
  commands: string[][]
  /** It takes mail faster when no command comes before the reply to the last one. */
  isStepwise?: boolean
}

/** A command that finds our DNS in /etc/resolv.conf, which stays as it is for everybody else. */
function askingUs(folder: string, command: string[]): string[] {
  const file = `${folder}/resolv.conf`
  writeFileSync(file, `nameserver ${NAME_SERVER.host}\n`)
  const script = `mount --bind ${file} /etc/resolv.conf && exec "$@"`
  return ['/usr/bin/unshare', '--mount', '/bin/sh', '-c', script, 'asking-us', ...command]
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(1_000, () => socket.destroy())
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('data', () => {
      socket.end('QUIT\r\n')
      resolve(true)
    })
  })
}

/** A port that nobody has, for a program that cannot choose one itself. */
export function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
