import type { ZoneRecord } from '../../../src/cli/try/zone-server.ts'
import type { LoadResult, startSink } from '../world.ts'

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
