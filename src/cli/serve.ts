import { type Config, checkConfigFiles, formatEndpoint, loadConfigFile } from '../config.ts'
import { DataDirInUse, type House, openHouse } from '../house.ts'
import { systemClock } from '../platform/clock.ts'
import { createLog, flushLog, type Log } from '../platform/log.ts'
import { onSignals } from '../platform/signals.ts'
import { CommandFailure, configFailure, EXIT, toFailure } from './failure.ts'
import { requireConfig } from './office.ts'
import { printJson } from './print.ts'

/** Runs the house until a signal ends it; answers what to end with then. What keeps it from starting is thrown, a line
 *  each: faults of the config (2), a data directory that is served already (3), anything else (1). Errors nobody
 *  caught are logged with their stack, and the process lives on: a mail server that restarts for one bad mail
 *  restarts for ever. */
export async function serve({ config: file }: { config: string }): Promise<number> {
  const config = requireConfig(file)
  const faults = checkConfigFiles(config, file)
  if (faults.length > 0) throw configFailure(faults)
  const log = createLog({ clock: systemClock, ...config.log })
  const ended = Promise.withResolvers<number>()

  const opening = openHouse(config, { log })
  // A signal that comes while the house opens waits for it: a half-open house cannot be drained.
  onSignals({
    terminate: async () => {
      log.info('stopping')
      await tellSystemd('STOPPING=1')
      await (await opening).stop()
    },
    reload: () => reload(file, log),
    exit: (code) => {
      log.info('stopped', { code })
      flushLog()
      ended.resolve(code)
      // A second signal does not wait for what still runs.
      if (code !== EXIT.done) process.exit(code)
    },
  })
  for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(name, (error: unknown) => log.error('nobody caught this', { kind: name, error }))
  }

  const house = await opening.catch((thrown: unknown) => {
    throw startFailure(thrown, config)
  })
  tellReady(house)
  await tellSystemd('READY=1')
  return ended.promise
}

function tellReady({ listening }: House): void {
  const { http, smtpInbound, smtpSubmission } = listening
  printJson({ event: 'ready', http, smtp_inbound: smtpInbound, smtp_submission: smtpSubmission })
}

/** Why the house did not open → one line for the operator; a bug stays what it was. */
function startFailure(thrown: unknown, config: Config): unknown {
  if (thrown instanceof DataDirInUse) return new CommandFailure(thrown.message, EXIT.inUse)
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const listen = config.http.listen === null ? 'off' : formatEndpoint(config.http.listen)
  if (code === 'EADDRINUSE') return new CommandFailure(`http.listen: ${listen} is in use by another program`)
  if (code === 'EADDRNOTAVAIL') return new CommandFailure(`http.listen: ${listen} is no address of this machine`)
  if (code === 'EACCES' && config.http.listen !== null && config.http.listen.port > 0 && isAboutListening(thrown)) {
    return new CommandFailure(
      `http.listen: no permission to listen on ${listen}; below 1024 it takes CAP_NET_BIND_SERVICE`,
    )
  }
  const failure = toFailure(thrown)
  return failure === null ? thrown : new CommandFailure(`data_dir ${config.dataDir}: ${failure.message}`)
}

function isAboutListening(thrown: unknown): boolean {
  return thrown instanceof Error && !('path' in thrown)
}

/** SIGHUP: only the log level can change without a restart. A config that has faults changes nothing. */
function reload(file: string, log: Log): void {
  const { config, faults } = loadConfigFile(file, process.env)
  if (config) {
    log.setLevel(config.log.level)
    log.info(`config read again, log level ${config.log.level}`)
  } else log.warn('config not read again: it has faults', { faults })
}

/** Loaded only where systemd asks. */
async function tellSystemd(state: string): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  const { notifySystemd } = await import('../platform/systemd.ts')
  notifySystemd(state)
}
