import { existsSync, statSync } from 'node:fs'
import { hostname as machineName } from 'node:os'
import { join } from 'node:path'
import { type Config, checkConfigFiles, formatFaults, readConfig } from '../config/load.ts'
import { type Found, runCheckup } from '../operating/checkup/run.ts'
import {
  type CheckResult,
  checkRecord,
  fail,
  hasNoFailure,
  pass,
  skip,
  type Verdict,
  warn,
} from '../operating/health/check.ts'
import type { HeldPort, Server } from '../operating/health/deps.ts'
import { heldPorts } from '../operating/health/held-ports.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { DATABASE_FILE } from '../storage/sqlite/open.ts'
import type { Store } from '../storage/store.ts'
import { requireConfig, withStore } from './cli-context.ts'
import { configFailure, EXIT, type ExitCode, toFailure, usageFault } from './failure.ts'
import { findings } from './findings.ts'
import { colorsFor, print, printJson } from './print.ts'
import { isServed, readServing } from './serving.ts'

interface Options {
  config: string
  hostname?: string
  domain?: string
  json?: true
}

/** Runs the health checks of the machine, the config, the store and public DNS; prints results and advice. Changes
 *  nothing. Without a config file it runs only the checks that need none, for the given hostname. Returns 0 if no check
 *  failed, otherwise 1. */
export async function doctor(options: Options): Promise<ExitCode> {
  // '' means no file: all settings come from the environment.
  const hasConfig = options.config === '' || existsSync(options.config)
  const config = hasConfig ? requireConfig(options.config) : plannedConfig(options)
  const found = [
    { name: 'config', ...(hasConfig ? checkFiles(config, options.config) : noConfig(options, config)) },
    ...(await lookAt(config, options.domain === undefined ? [] : [options.domain])),
  ]
  if (options.json) printJson({ ok: hasNoFailure(found), checks: found.map(checkRecord) })
  else print(`Checking ${config.hostname}\n${findings(found, colorsFor())}`)
  return hasNoFailure(found) ? EXIT.done : EXIT.failed
}

/** Runs the checks that need no store. `held` are the listening ports of this machine, by default those that this user
 *  can see. Returns the results and the public addresses of the machine. */
export function lookAtMachine(config: Config, domains: readonly string[], held = heldPorts('/proc')) {
  return look(config, { store: null, held, server: null, domains })
}

async function lookAt(config: Config, domains: readonly string[]): Promise<CheckResult[]> {
  // Before root becomes the owner of the data: only root can see which process listens on a port.
  const held = heldPorts('/proc')
  const missing = whyNoStore(config)
  if (missing !== null) return [...(await lookAtMachine(config, domains, held)).checks, { name: 'store', ...missing }]
  try {
    return await withStore(config, async ({ store }) => {
      const { checks } = await look(config, { store, held, server: serverOn(config.dataDir), domains })
      return checks
    })
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (failure === null) throw thrown
    const [problem = '', ...remedy] = failure.message.split('. ')
    const verdict = fail(problem, remedy.join('. ') || 'Check the server log: journalctl -u postrider')
    return [...(await lookAtMachine(config, domains, held)).checks, { name: 'store', ...verdict }]
  }
}

function look(
  config: Config,
  about: { store: Store | null; held: readonly HeldPort[]; server: Server | null; domains: readonly string[] },
): Promise<Found> {
  return runCheckup(config, { ...about, clock: systemClock, random: systemRandom })
}

/** Config from the hostname and the environment, for a machine without a config file. */
function plannedConfig({ config: file, hostname, domain }: Options): Config {
  const name = hostname ?? (domain === undefined ? machineName() : `mail.${domain}`)
  if (!name.includes('.')) {
    throw usageFault(
      `${file}: file not found. Run postrider init, or check the machine without a config: --hostname mail.example.com`,
    )
  }
  const read = readConfig({ text: `hostname = ${JSON.stringify(name)}\n`, file: 'arguments', env: process.env })
  if (!read.config) throw configFailure(read.faults)
  return read.config
}

function checkFiles(config: Config, file: string): Verdict {
  const faults = checkConfigFiles(config, file)
  return faults.length === 0
    ? pass(file || 'the environment')
    : fail(formatFaults(faults), `postrider config check --config ${file}`)
}

const noConfig = ({ config: file, domain = 'example.com' }: Options, { hostname }: Config) =>
  warn(`${file} does not exist`, `postrider init --domain ${domain} --hostname ${hostname}`)

/** The reason to skip the checks of the store; null if its database exists. */
function whyNoStore({ dataDir, database }: Config): Verdict | null {
  if (database.url !== '') return null
  try {
    const file = statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })
    return file === undefined ? skip('no database yet; create it with postrider init') : null
  } catch {
    return skip(`only root and the owner of ${dataDir} can read it`)
  }
}

function serverOn(dataDir: string): Server | null {
  const serving = isServed(dataDir) ? readServing(dataDir) : null
  if (serving === null) return null
  const ports = Object.values(serving.listeners).flatMap((at) => (at === null ? [] : Number(at.split(':').at(-1))))
  return { pid: serving.pid, ports }
}
