import type { ZoneRecord } from '../../../src/cli/try/zone-server.ts'
import type { LoadResult, startSink } from '../peers.ts'

/** A compared mail server; each is in a separate file of this folder. */
export interface Contender {
  /** Its column. */
  name: string
  /** Required files, each with its package. `tools` is the folder of `--data`. */
  needs(tools: string): Record<string, string>
  /** Mails of each load, for some seconds of it; a load without a number is skipped. */
  mails: { warmUp: number; sent: number; accepted: number; healthy?: number; inbound?: number }
  open(stage: Stage): Promise<Running>
}

/** What a contender runs in. */
export interface Stage {
  /** An empty folder for configuration and spool, accessible to every user of the machine. */
  folder: string
  /** The folder of `--data`. */
  tools: string
  manner: Manner
  /** The mail server that accepts everything. */
  sink: Awaited<ReturnType<typeof startSink>>
  /** DNS records; all contenders except ours query `NAME_SERVER`. Empty where none are needed. */
  names: ZoneRecord[]
  /** The mail that is sent by SMTP, and its recipient. */
  mail: { file: string; to: string }
}

/** `relay`: all goes to the sink. `hold`: all is accepted and kept. `route`: each goes to the host in DNS, all at
 *  the sink's port. `check`: inbound mail is authenticated and passed on. */
export type Manner = 'relay' | 'hold' | 'route' | 'check'

export interface Running {
  /** Sends that many mails over that many connections → when all are accepted. */
  send(connections: number, count: number): Promise<LoadResult>
  /** Sends a mail of 1 KB to each of the addresses. */
  sendTo(addresses: string[]): Promise<void>
  /** Mails that were passed on so far. */
  passedOn(): Promise<number>
  /** User and system time of all its processes so far. */
  cpuSeconds(): number
  stop(): Promise<void>
}
