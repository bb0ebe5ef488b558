import { UnusableCertificate } from '../certificates/files.ts'
import { type Config, checkConfigFiles, isPublicUrlDerived, loadConfigFile } from '../config/load.ts'
import { iso } from '../model/event.ts'
import { invalid } from '../model/refusal.ts'
import { systemClock } from '../os/clock.ts'
import { createLog, flushLog, type Log } from '../os/log.ts'
import { onSignals } from '../os/signals.ts'
import { ListenFailure } from '../server/listeners.ts'
import { DataDirInUse, type House, openHouse } from '../server/server.ts'
import { VERSION } from '../version.ts'
import { CommandFailure, configFailure, EXIT, toFailure } from './failure.ts'
import { readConfigOf } from './office.ts'
import { printJson } from './print.ts'
import { removeServing, writeServing } from './serving.ts'

/** Runs the house until a signal ends it; answers what to end with then. What keeps it from starting is thrown, a line
 *  each: faults of the config (2), a data directory that is served already (3), anything else (1). Errors nobody
 *  caught are logged with their stack, and the process lives on: a mail server that restarts for one bad mail
 *  restarts for ever. */
export async function serve({ config: file, behindProxy }: { config: string; behindProxy?: true }): Promise<number> {
  // Above the config, and still so when it is read again.
  if (behindProxy) process.env.POSTRIDER_HTTP_BEHIND_PROXY = 'true'
  const { config, settings } = readConfigOf(file)
  const faults = checkConfigFiles(config, file || 'environment')
  if (faults.length > 0) throw configFailure(faults)
  const log = createLog({ clock: systemClock, ...config.log })
  const ended = Promise.withResolvers<number>()

  const opening = openHouse(config, { log, settings })
  // A signal that comes while the house opens waits for it: a half-open house cannot be drained.
  onSignals({
    terminate: async () => {
      log.info('stopping')
      await tellSystemd('STOPPING=1')
      const house = await opening
      removeServing(config.dataDir)
      await house.stop()
    },
    reload: async () => reload(file, await opening, log),
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
  tellReady(house, config.dataDir)
  if (isPublicUrlDerived(config) && config.http.listenTls === null)
    log.warn(`http.public_url is not set: links in mail begin with ${house.publicUrl}`)
  await tellSystemd('READY=1')
  await keepWatched()
  return ended.promise
}

function tellReady({ listening }: House, dataDir: string): void {
  const { metrics, http, https, httpRedirect, smtpInbound, smtpSubmission, smtpSubmissionTls } = listening
  const listeners = {
    http,
    https,
    http_redirect: httpRedirect,
    smtp_inbound: smtpInbound,
    smtp_submission: smtpSubmission,
    smtp_submission_tls: smtpSubmissionTls,
    metrics,
  }
  const startedAt = iso(systemClock.now())
  writeServing(dataDir, { pid: process.pid, version: VERSION, started_at: startedAt, listeners })
  printJson({ event: 'ready', ...listeners })
}

/** Why the house did not open → one line for the operator; a bug stays what it was. */
function startFailure(thrown: unknown, config: Config): unknown {
  if (thrown instanceof DataDirInUse) return new CommandFailure(thrown.message, EXIT.inUse)
  if (thrown instanceof ListenFailure) return new CommandFailure(thrown.message)
  if (thrown instanceof UnusableCertificate) return new CommandFailure(thrown.message, EXIT.usage)
  const failure = toFailure(thrown)
  return failure === null ? thrown : new CommandFailure(`data_dir ${config.dataDir}: ${failure.message}`, failure.code)
}

/** SIGHUP: log level and certificate change without a restart. A config that has faults changes nothing. */
async function reload(file: string, house: House, log: Log): Promise<void> {
  const { config, faults } = loadConfigFile(file || null, process.env)
  const level = config?.log.level
  const readAgain = async () => {
    if (level === undefined) throw invalid([{ field: 'config', message: 'the config has faults' }])
    log.setLevel(level)
    await house.reloadCertificate()
  }
  try {
    await house.manage('config_reload', { log: { level: '' }, tls: PAIR, smtp: PAIR }, readAgain)
    log.info(`config read again, log level ${level}`)
  } catch (error) {
    if (level === undefined) log.warn('config not read again: it has faults', { faults })
    else log.error('certificate not read again, the one before it stays', { error })
  }
}

const PAIR = { certificate_file: '', key_file: '' }

/** Loaded only where systemd asks. */
async function tellSystemd(state: string): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  const { notifySystemd } = await import('../os/systemd.ts')
  notifySystemd(state)
}

/** Until the process ends, also while it stops: that has its own limit. */
async function keepWatched(): Promise<void> {
  if (!process.env.WATCHDOG_USEC) return
  const { feedWatchdog } = await import('../os/systemd.ts')
  feedWatchdog()
}
