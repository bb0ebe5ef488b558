import { existsSync, readlinkSync } from 'node:fs'
import type { Config } from '../../config/load.ts'
import { CommandFailure } from '../failure.ts'
import { readServing } from '../serving.ts'
import type { ServiceRecord } from './journal.ts'
import type { Place } from './place.ts'
import { failureOf, type Ran, run, runShell } from './run.ts'

/** Starts and stops the server. Each resolves with null, or with the reason of a failure. */
export interface Service {
  restart(limitMs: number): Promise<string | null>
  stop(): Promise<string | null>
  start(limitMs: number): Promise<string | null>
}

/** Of a stop: the unit's is 35 s. */
const STOP_MS = 60_000

/** A journal's record → the service. */
export function serviceOf(record: NonNullable<ServiceRecord>): Service {
  if ('unit' in record) {
    const ask = (verb: string) => async (limitMs: number) =>
      faultOf(`systemctl ${verb} ${record.unit}`, await run(['systemctl', verb, record.unit], { limitMs }))
    const start = async (limitMs: number) => {
      // Failed starts of the new version may have used up StartLimitBurst.
      await run(['systemctl', 'reset-failed', record.unit], { limitMs: STOP_MS })
      return ask('start')(limitMs)
    }
    // `restart` and `start` wait until the server is ready, or fail with it.
    return { restart: ask('restart'), stop: () => ask('stop')(STOP_MS), start }
  }
  const shell = (command: string) => async (limitMs: number) => faultOf(command, await runShell(command, limitMs))
  const stop = () => shell(record.stop)(STOP_MS)
  const start = shell(record.start)
  return { restart: async (limitMs) => (await stop()) ?? (await start(limitMs)), stop, start }
}

/** How to restart the server of this data directory; null if none runs, or with `noRestart`. Throws CommandFailure if one
 *  runs that the unit did not start, or that runs another program. */
export async function findService(
  config: Config,
  options: { unit: string; startCommand?: string; stopCommand?: string; restart: boolean },
  { place, isServed }: { place: Place; isServed: boolean },
): Promise<ServiceRecord> {
  const { unit, startCommand, stopCommand } = options
  if (!options.restart || !isServed) return null
  requireOwnProgram(config, place)
  if (startCommand !== undefined && stopCommand !== undefined) return { stop: stopCommand, start: startCommand }
  if (existsSync('/run/systemd/system')) {
    const ran = await run(['systemctl', 'is-active', '--quiet', unit], { limitMs: STOP_MS })
    if (ran.code === 0) return { unit }
  }
  throw new CommandFailure(
    `a server runs on ${config.dataDir}, but systemd's unit ${unit} did not start it. Name the unit with --unit, or give --stop-command and --start-command. With --no-restart, only the program is replaced.`,
  )
}

/** The server may run a program elsewhere, which this upgrade would not replace. */
function requireOwnProgram({ dataDir }: Config, { program }: Place): void {
  const pid = readServing(dataDir)?.pid
  if (pid === undefined) return
  let running: string
  try {
    running = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
  } catch {
    return // ended meanwhile, or of another user
  }
  if (running === program) return
  throw new CommandFailure(`the server runs ${running}, and not ${program}. Upgrade with: ${running} upgrade`)
}

const faultOf = (command: string, ran: Ran) => (ran.code === 0 ? null : `${command}: ${failureOf(ran)}`)
