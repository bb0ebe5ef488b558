import { type Config, checkConfigFiles, isPublicUrlDerived, loadConfigFile } from '../config/load.ts'
import { UnusableCertificate } from '../domains/certificates/files.ts'
import { iso } from '../model/event.ts'
import { invalid } from '../model/refusal.ts'
import { systemClock } from '../os/clock.ts'
import { createLog, flushLog, type Log } from '../os/log.ts'
import { onSignals } from '../os/signals.ts'
import { ListenFailure } from '../server/listeners.ts'
import { DataDirInUse, type Server, startServer } from '../server/server.ts'
import { VERSION } from '../version.ts'
import { readConfigOf } from './cli-context.ts'
import { CommandFailure, configFailure, EXIT, storeFailure } from './failure.ts'
import { packedManual } from './manual/packed.ts'
import { printJson } from './print.ts'
import { removeServing, writeServing } from './serving.ts'

/** Runs the server until a signal stops it; returns the exit code. Throws CommandFailure if it cannot start: config
 *  faults (2), a data directory in use (3), anything else (1). Logs uncaught errors with their stack and continues:
 *  otherwise one bad message could make the server restart forever. */
export async function serve({ config: file, behindProxy }: { config: string; behindProxy?: true }): Promise<number> {
  // Overrides the config, also after a reload.
  if (behindProxy) process.env.POSTRIDER_HTTP_BEHIND_PROXY = 'true'
  const { config, settings } = readConfigOf(file)
  const faults = checkConfigFiles(config, file || 'environment')
  if (faults.length > 0) throw configFailure(faults)
  const log = createLog({ clock: systemClock, ...config.log })
  const ended = Promise.withResolvers<number>()

  const opening = startServer(config, {
    log,
    settings,
    manual: packedManual,
    onReplaced: () => {
      flushLog()
      process.exit(EXIT.replaced)
    },
  })
  // A signal during the start takes effect when the start is complete: a server cannot stop before.
  onSignals({
    terminate: async () => {
      log.info('stopping')
      await notify('STOPPING=1')
      const server = await opening
      removeServing(config.dataDir)
      await server.stop()
    },
    reload: async () => reload(file, await opening, log),
    exit: (code) => {
      log.info('stopped', { code })
      flushLog()
      ended.resolve(code)
      // A second signal ends the process at once.
      if (code !== EXIT.done) process.exit(code)
    },
  })
  for (const name of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(name, (error: unknown) => log.error('uncaught error', { kind: name, error }))
  }

  const server = await opening.catch((thrown: unknown) => {
    throw startFailure(thrown, config)
  })
  announceReady(server, config.dataDir)
  if (isPublicUrlDerived(config) && config.http.listenTls === null)
    log.warn('http.public_url is not set, using a default for links in mail', { public_url: server.publicUrl })
  await notify('READY=1')
  await keepWatched()
  return ended.promise
}

function announceReady({ listening }: Server, dataDir: string): void {
  const { metrics, dns, http, https, httpRedirect, smtpInbound, smtpSubmission, smtpSubmissionTls } = listening
  const listeners = {
    http,
    https,
    http_redirect: httpRedirect,
    smtp_inbound: smtpInbound,
    smtp_submission: smtpSubmission,
    smtp_submission_tls: smtpSubmissionTls,
    dns,
    metrics,
  }
  const startedAt = iso(systemClock.now())
  writeServing(dataDir, { pid: process.pid, version: VERSION, started_at: startedAt, listeners })
  printJson({ event: 'ready', ...listeners })
}

/** Error of a failed start → one line for the operator. Returns a bug unchanged. */
function startFailure(thrown: unknown, config: Config): unknown {
  if (thrown instanceof DataDirInUse) return new CommandFailure(thrown.message, EXIT.inUse)
  if (thrown instanceof ListenFailure) return new CommandFailure(thrown.message)
  if (thrown instanceof UnusableCertificate) return new CommandFailure(thrown.message, EXIT.usage)
  return storeFailure(thrown, config.dataDir)
}

/** SIGHUP: reloads the log level, the certificates and the passwords of relays. If the config has faults, it logs them and
 *  changes nothing. */
async function reload(file: string, server: Server, log: Log): Promise<void> {
  const { config, faults } = loadConfigFile(file || null, process.env)
  const level = config?.log.level
  const readAgain = async () => {
    if (level === undefined) throw invalid([{ field: 'config', message: 'the config is invalid' }])
    log.setLevel(level)
    await server.reloadFiles()
  }
  try {
    await server.manage(
      'config_reload',
      { log: { level: '' }, tls: PAIR, smtp: PAIR, relays: { password_file: '' } },
      readAgain,
    )
    log.info('config reloaded', { log_level: level })
  } catch (error) {
    if (level === undefined) log.warn('config not reloaded: it is invalid', { faults })
    else log.error('certificate not reloaded, keeping the previous one', { error })
  }
}

const PAIR = { certificate_file: '', key_file: '' }

/** Reports a state to systemd (sd_notify(3)). Loads the module only under systemd. */
async function notify(state: string): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  const { notifySystemd } = await import('../os/systemd.ts')
  notifySystemd(state)
}

/** Reports to the watchdog of systemd until the process ends. This includes the shutdown, which has
 *  its own time limit. */
async function keepWatched(): Promise<void> {
  if (!process.env.WATCHDOG_USEC) return
  const { feedWatchdog } = await import('../os/systemd.ts')
  feedWatchdog()
}
