/** Builds one frozen Config from config.toml, systemd credentials and the environment. The environment overrides
 *  credentials, which override the file, which overrides the defaults. Unknown keys, wrong types and bad combinations are
 *  faults, reported together. config/schema.ts defines the keys, their descriptions and defaults. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { accessFacts } from './access-advice.ts'
import { filesOfChannels } from './alert-channels.ts'
import { filesOfMailboxes } from './canary-mailboxes.ts'
import { ConfigError, type ConfigFault } from './fault.ts'
import { fileFault } from './file-fault.ts'
import { type Collected, fromCredentials, fromEnvironment, fromTable, type Origin } from './given.ts'
import { linesOfKeys } from './lines.ts'
import type { Endpoint } from './notations.ts'
import { assemble, type ConfigResult, derivePublicUrl } from './read.ts'
import type { Config, ConfigValues, Plan } from './schema.ts'
import { ExposedSecret, readSecretFile } from './secret-file.ts'
import type { Setting } from './settings.ts'
import { codeOf } from './system-error.ts'

export type { AlertChannel } from './alert-channels.ts'
export type { CanaryMailbox } from './canary-mailboxes.ts'
export { renderExample } from './example.ts'
export { ConfigError, type ConfigFault, formatFaults } from './fault.ts'
export { type Endpoint, formatEndpoint, parseListen, type Smarthost } from './notations.ts'
export type { ConfigResult } from './read.ts'
export type { Config, ConfigValues, Plan } from './schema.ts'
export { readSecretFile } from './secret-file.ts'
export type { Setting } from './settings.ts'

/** Where large contents are kept: bucket and service; null = in the database. */
export function objectPlaceOf({ storage }: Pick<Config, 'storage'>) {
  const { contents, s3Endpoint: endpoint, s3Region: region, s3AccessKeyId, s3SecretAccessKey } = storage
  return contents && { ...contents, endpoint, region, accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey }
}

/** Config → the plan of a name; the smallest one for a name that is no longer configured. */
export function planNamed({ plans }: Pick<Config, 'plans'>): (name: string) => Plan {
  return (name) => (Object.hasOwn(plans, name) ? plans[name]! : plans.free!)
}

/** Config → its sending addresses with the name that each says in EHLO. */
export const sendingAddressesOf = ({ sending, hostname }: Pick<Config, 'sending' | 'hostname'>) =>
  sending.addresses.map((each) => ({ ...each, hostname: each.hostname ?? hostname }))

/** Config → the addresses that it names for outgoing mail, of all nodes; [] = the system chooses. */
export const configuredSources = ({ sending, delivery }: Pick<Config, 'sending' | 'delivery'>): string[] => [
  ...(delivery.sourceAddress === null ? [] : [delivery.sourceAddress]),
  ...sending.addresses.map(({ address }) => address),
]

/** Config → the name of this node in lists and logs. */
export const nodeName = ({ cluster, hostname }: Pick<Config, 'cluster' | 'hostname'>) => cluster.name || hostname

/** The text of a config file and an environment → Config, or all faults by line. `file` is the name shown in
 *  faults; relative paths are relative to its folder. Reads only the files that secrets name. Never throws. */
export function readConfig(options: {
  text: string
  file: string
  env: Record<string, string | undefined>
}): ConfigResult {
  const { text, file, env } = options
  const fromFile = fromToml(text, file)
  const environment = fromEnvironment(env)
  if ('message' in fromFile) return { faults: [fromFile, ...environment.faults] }
  const credentials = fromCredentials(env.CREDENTIALS_DIRECTORY, existsSync)
  return assemble([fromFile, credentials, environment], file, readSecretFile)
}

/** A path and an environment → as readConfig; a file that is missing, unreadable or not UTF-8 is a fault.
 *  null: no file, everything from the environment. */
export function loadConfigFile(path: string | null, env: Record<string, string | undefined>): ConfigResult {
  if (path === null) return readConfig({ text: '', file: 'environment', env })
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    return readConfig({ text, file: path, env })
  } catch (error) {
    const reason = error instanceof TypeError ? 'found bytes that are not UTF-8' : configFileFault(error, path)
    return { faults: [{ file: path, line: null, key: '', message: `expected a readable file, ${reason}` }] }
  }
}

/** The config is not for every user, so nobody is told to make it theirs. */
function configFileFault(error: unknown, path: string): string {
  if (codeOf(error) !== 'EACCES') return fileFault(error, path)
  return `${accessFacts(path)}. Run the command as root or as the user postrider`
}

/** Values as they would stand in the file → Config, for tests. Throws ConfigError on faults. */
export const makeConfig = (values: ConfigValues): Config => readValues(values).config

/** Like makeConfig, with the settings that the server lists. For `postrider try`. */
export function readValues(values: ConfigValues): { config: Config; settings: () => Setting[] } {
  const file = 'values'
  const collected = fromTable(values, (key) => ({ file, line: null, key }))
  const result = assemble([collected], file, readSecretFile)
  if (result.config) return result
  throw new ConfigError(result.faults)
}

/** Checks that the files named in the config are readable; [] if they are. Separate from readConfig, which only parses
 *  text: call it at start and in `config check`. `file` is the name shown in faults. */
export function checkConfigFiles(config: Config, file: string): ConfigFault[] {
  const named = {
    'tls.certificate_file': config.tls.certificateFile,
    'tls.key_file': config.tls.keyFile,
    'tls.acme_ca_file': config.tls.acmeCaFile,
    'smtp.certificate_file': config.smtp.certificateFile,
    'smtp.key_file': config.smtp.keyFile,
    'database.ca_file': config.database.caFile,
    'webhooks.ca_file': config.webhooks.caFile,
    'attachments.ca_file': config.attachments.caFile,
    'oidc.ca_file': config.oidc.caFile,
  }
  const ofTables = [...filesOfChannels(config.alerts.channels), ...filesOfMailboxes(config.canary.mailboxes)]
  const unreadable = [...Object.entries(named), ...ofTables].flatMap(([key, path]) => {
    const reason = path && whyUnreadable(path)
    return reason ? [{ file, line: null, key, message: `expected a readable file, found "${path}": ${reason}` }] : []
  })
  return [...unreadable, ...config.relays.flatMap((relay) => passwordFault(relay, file))]
}

/** Config → the password of each relay by name. Throws if a file cannot be read, or if others can read it. */
export function relayPasswordsOf({ relays }: Pick<Config, 'relays'>): Map<string, string> {
  return new Map(
    relays.flatMap(({ name, passwordFile }) =>
      passwordFile === null ? [] : [[name, readSecretFile(passwordFile).replace(/\r?\n$/, '')] as const],
    ),
  )
}

function passwordFault(relay: Config['relays'][number], file: string): ConfigFault[] {
  const fault = (message: string) => [{ file, line: null, key: `relays "${relay.name}" password_file`, message }]
  try {
    const password = relayPasswordsOf({ relays: [relay] }).get(relay.name)
    return password === '' ? fault('expected a password, found an empty file') : []
  } catch (error) {
    if (error instanceof ExposedSecret) return fault(error.message)
    return fault(
      `expected a readable file, found "${relay.passwordFile}": ${fileFault(error, relay.passwordFile ?? '')}`,
    )
  }
}

/** The address that links start with once the listeners for HTTP are bound: the configured one, or the derived one with
 *  the port that port 0 became. `null`: off. */
export function publicUrlAt(config: Config, bound: { listen: Endpoint | null; listenTls: Endpoint | null }): string {
  return isPublicUrlDerived(config) ? derivePublicUrl(config.hostname, bound) : config.http.publicUrl
}

/** Whether http.public_url is not configured. */
export function isPublicUrlDerived({ hostname, http }: Config): boolean {
  return http.publicUrl === derivePublicUrl(hostname, http)
}

/** Invalid TOML is one fault; the rest of the file is not parsed. */
function fromToml(text: string, file: string): Collected | ConfigFault {
  try {
    const values = parse(text)
    const lines = linesOfKeys(text)
    return fromTable(values, (key) => ({ file, line: lineOf(key, lines), key }))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const said = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '')
    const why = said.includes('already defined') ? 'a duplicate section or key' : said
    return { file, line: error.line, key: '', message: `expected TOML, found at column ${error.column}: ${why}` }
  }
}

/** The line of a key, or of the table around it. */
function lineOf(key: string, lines: Map<string, number>): Origin['line'] {
  const line = lines.get(key)
  if (line !== undefined || !key.includes('.')) return line ?? null
  return lineOf(key.slice(0, key.lastIndexOf('.')), lines)
}

function whyUnreadable(path: string): string | null {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isDirectory() ? 'is a folder' : null
  } catch (error) {
    return fileFault(error, path)
  }
}
