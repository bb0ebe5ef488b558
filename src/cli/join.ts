import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join as joinPath, resolve } from 'node:path'
import { type Config, nodeName } from '../config/load.ts'
import { sharedSettings } from '../config/shared-settings.ts'
import type { CheckResult } from '../operating/health/check.ts'
import { differences } from '../operating/health/nodes.ts'
import { ENCRYPTION_KEY_FILE } from '../storage/encryption-key.ts'
import { requireConfig, withStore } from './cli-context.ts'
import { lookAtMachine } from './doctor.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { findings } from './findings.ts'
import { removeWritten, withStaying, writeFiles } from './init-files.ts'
import { type Draft, draftOf, type InitOptions, SECRET_MODE } from './init-plan.ts'
import { DEFAULT_CONFIG_FILE } from './options.ts'
import { colorsFor, print, printJson } from './print.ts'
import { COMMAND, serviceSteps } from './service-unit.ts'
import { inspectShared, requireKey, requireSameDatabase } from './shared-database.ts'

interface Options extends InitOptions {
  sealKey: string
  json?: true
  skipChecks?: true
  dryRun?: true
}

/** Prepares this machine as a further node: checks the database, the key and the machine, and writes config and key. If
 *  both are there already, it changes nothing. Throws CommandFailure for an invalid option, for a key or database of
 *  another installation, and if a file cannot be written. */
export async function join(options: Options): Promise<void> {
  const isNew = options.config !== '' && !existsSync(options.config)
  const draft: Draft = isNew ? draftOf(options, hostnameOf(options)) : existing(options)
  const { config } = draft
  if (config.database.url === '') throw usageFault('database: missing. Set it with --database postgres://…')
  const state = await inspectShared(config)
  if (!state?.proof) {
    throw new CommandFailure(
      'database: no installation yet. Create it on the first machine: postrider init --database URL',
    )
  }
  requireKey(options.sealKey, state.proof)
  const files = [...keyFile(options.sealKey, config), ...draft.files]
  if (files.length === 0) return printUnchanged(config, state.names, options)
  if (state.names.includes(nodeName(config))) {
    throw usageFault(`hostname: a node ${nodeName(config)} runs already. Stop it, or choose another name`)
  }
  if (!options.json && !options.skipChecks) print('Checking this machine')
  const checks = options.skipChecks ? null : (await lookAtMachine(config, [])).checks
  if (!options.json && checks !== null) print(`${findings(checks, colorsFor())}\n`)
  const plan = { config, files }
  if (options.dryRun) return printPlan(plan, checks, options)
  const { others, differing } = await write(plan)
  const record = { changed: true, ...recordOf(config, others), differing_settings: differing }
  if (options.json) printJson({ ...record, ...(checks === null ? {} : { checks }) })
  else print(nextSteps(plan, { others, differing }, options))
}

function hostnameOf({ hostname }: Options): string {
  if (hostname !== undefined) return hostname
  throw usageFault('hostname: missing. Set it with --hostname mx2.example.com')
}

/** The config that exists, which is not changed. */
function existing(options: Options): Draft {
  const config = requireConfig(options.config)
  requireSameDatabase(options.database, options.config, config)
  return { config, files: [] }
}

/** The key as a file of this data directory; none if it is there. Throws CommandFailure (exit code 2) if another one is. */
function keyFile(from: string, { dataDir }: Config): Draft['files'] {
  const path = joinPath(dataDir, ENCRYPTION_KEY_FILE)
  const text = readFileSync(from, 'latin1')
  if (!existsSync(path)) return [{ path, text, mode: SECRET_MODE }]
  if (readFileSync(path, 'latin1') === text) return []
  throw usageFault(`data-dir: ${path} is the key of another installation. Choose another data directory`)
}

interface Joined {
  /** Names of the other nodes. */
  others: string[]
  /** Settings that all nodes must have, and that a running one has otherwise. */
  differing: string[]
}

/** Writes the files and opens the store with them; removes them if that fails. */
async function write(plan: Draft): Promise<Joined> {
  mkdirSync(plan.config.dataDir, { recursive: true, mode: 0o700 })
  writeFiles(plan)
  try {
    return await withStore(plan.config, async ({ store: { nodes } }) => {
      const list = await nodes.list()
      const running = list.flatMap(({ state, settings }) =>
        state === 'ended' || settings === null ? [] : [{ settings }],
      )
      const own = { settings: nodes.digestsOf(sharedSettings(plan.config)) }
      return { others: list.map(({ name }) => name), differing: differences([own, ...running]) }
    })
  } catch (thrown) {
    throw withStaying(thrown, removeWritten(plan, null))
  }
}

const recordOf = (config: Config, nodes: readonly string[]) => ({
  name: nodeName(config),
  hostname: config.hostname,
  nodes,
})

function printUnchanged(config: Config, names: readonly string[], { json }: Options): void {
  if (json) printJson({ changed: false, ...recordOf(config, names) })
  else print(`${nodeName(config)} has joined already. Nothing was changed.`)
}

function printPlan({ files }: Draft, checks: readonly CheckResult[] | null, { json }: Options): void {
  const writes = files.map(({ path }) => path)
  if (json) printJson({ changed: false, writes, ...(checks === null ? {} : { checks }) })
  else print(`Nothing was changed. Without --dry-run, join writes ${writes.join(' and ')}.`)
}

function nextSteps({ config, files }: Draft, { others, differing }: Joined, options: Options): string {
  const { good, bold } = colorsFor()
  const file = options.config === '' ? "''" : resolve(options.config)
  const named = file === DEFAULT_CONFIG_FILE ? '' : ` --config ${file}`
  const secrets = files.filter(({ mode }) => mode === SECRET_MODE).map(({ path }) => resolve(path))
  const { hostname, dataDir } = config
  return `${files.map(({ path }) => `${good('✓')} wrote ${resolve(path)}`).join('\n')}
${good('✓')} joins ${others.length === 0 ? 'an installation without a running node' : others.join(', ')}

${bold('1. DNS')}
   At the provider of this machine, set the reverse DNS (PTR) of its IP address to ${hostname}.
   Publish the A record of ${hostname}, and add a:${hostname} to the SPF record of each return path host.

${settingsStep(differing, file)}${bold('2. Start the node with systemd, as root')}
${serviceSteps({ file, dataDir, secrets })}

${bold('3. After the start')}
   ${COMMAND} node list${named}
   ${COMMAND} doctor${named}`
}

/** What to copy before the start; '' without a difference. */
function settingsStep(differing: readonly string[], file: string): string {
  if (differing.length === 0) return ''
  return `   Other nodes have other values of these settings. Copy them into ${file} before the start, with the files and
   passwords that they name: ${differing.join(', ')}

`
}
