import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../config/load.ts'
import { checkDomainName } from '../domains/name.ts'
import { configFailure, usageFault } from './failure.ts'
import { initialConfig } from './init-texts.ts'
import type { Prompt } from './prompt.ts'

/** Options of `init`. */
export interface InitOptions {
  config: string
  domain?: string
  hostname?: string
  dataDir?: string
  contact?: string
  /** Serve HTTPS with a certificate from Let's Encrypt; the user agrees to its terms. */
  https?: true
  /** `-` reads a line of standard input. */
  smarthost?: string
  /** URL of PostgreSQL; `-` reads a line of standard input. */
  database?: string
  databaseCa?: string
  /** DNS provider as lexicon calls it: `init` also publishes the records there. */
  dns?: string
}

/** A config that `init` could write, parsed, with its files. */
export interface Draft {
  config: Config
  /** In write order; the config file is the last. */
  files: { path: string; text: string; mode: number }[]
}

/** Returns the domain from the options or the prompt, as A-labels. Throws CommandFailure (exit code 2) if it is
 *  missing or invalid. */
export async function chooseDomain({ domain }: InitOptions, ask: Prompt | null): Promise<string> {
  const given = domain ?? (await ask?.('Sending domain: ')) ?? ''
  if (given === '') throw usageFault('domain: missing. Set it with --domain example.com')
  const checked = checkDomainName(given)
  if ('fault' in checked) throw usageFault(`domain: ${checked.fault}`)
  return checked.name
}

/** Returns the hostname from the options or the prompt; `mail.` and the domain if there is neither. Does
 *  not validate it. */
export async function chooseHostname({ hostname }: InitOptions, domain: string, ask: Prompt | null): Promise<string> {
  const usual = `mail.${domain}`
  return hostname ?? ((await ask?.(`Public hostname of this machine [${usual}]: `)) || usual)
}

/** Whether to serve HTTPS: from the options or the prompt, whose answer also agrees to the terms of the authority. */
export async function chooseHttps({ https }: InitOptions, ask: Prompt | null): Promise<true | undefined> {
  if (https || ask === null) return https
  return /^y(?:es)?$/i.test(await ask(HTTPS_QUESTION)) ? true : undefined
}

const HTTPS_QUESTION =
  "Serve HTTPS with a certificate of Let's Encrypt, and agree to its terms (https://letsencrypt.org/repository/)? [y/N]: "

/** Options → config and files to write. The URLs of a smarthost and a database contain a password, so they go into
 *  separate files; `-` is read from standard input. Throws CommandFailure (exit code 2) with all faults of the config. */
export function draftOf(options: InitOptions, hostname: string): Draft {
  const { config: path, databaseCa } = options
  if (options.smarthost === '-' && options.database === '-') {
    throw usageFault('database: only one of --database and --smarthost can be read from standard input')
  }
  const smarthost = givenUrl(options.smarthost)
  const database = givenUrl(options.database)
  if (databaseCa !== undefined && database === '') throw usageFault('database-ca: needs --database')
  const settings = settingsOf(options, hostname)
  const caFile = databaseCa && resolve(databaseCa)
  const textWith = (of: (url: string, file: string) => { url: string } | { file: string }) =>
    initialConfig({
      ...settings,
      ...(smarthost === '' ? {} : { smarthost: of(smarthost, SMARTHOST_FILE) }),
      ...(database === '' ? {} : { database: { ...of(database, DATABASE_URL_FILE), caFile } }),
    })
  // Parsed with the secrets inline, since their files do not exist yet.
  const read = readConfig({ text: textWith((url) => ({ url })), file: path, env: process.env })
  if (!read.config) throw configFailure(read.faults)
  const text = textWith((_, file) => ({ file }))
  const secrets = [
    { name: SMARTHOST_FILE, url: smarthost },
    { name: DATABASE_URL_FILE, url: database },
  ].flatMap(({ name, url }) => (url === '' ? [] : secretFile(join(dirname(path), name), `${url}\n`)))
  return { config: read.config, files: [...secrets, { path, text, mode: 0o640 }] }
}

/** Options → the settings of the config without secrets. */
export function settingsOf({ contact, dataDir, https, dns }: InitOptions, hostname: string) {
  return { hostname, dataDir: dataDir && resolve(dataDir), contact, https, dnsProvider: dns }
}

/** A secret → its file to write; none if the file has the same text, of another config in the folder. Throws
 *  CommandFailure (exit code 2) if it has another one. */
function secretFile(path: string, text: string): Draft['files'] {
  if (!existsSync(path)) return [{ path, text, mode: SECRET_MODE }]
  if (readFileSync(path, 'utf8') === text) return []
  throw usageFault(`config: ${path} exists with another URL. Choose another folder with --config`)
}

/** An option → the URL; '' without it. */
export function givenUrl(option: string | undefined): string {
  return option === '-' ? readFileSync(0, 'utf8').trim() : (option ?? '')
}

/** File mode for secrets: only the owner can read the file. */
export const SECRET_MODE = 0o600
export const SMARTHOST_FILE = 'smarthost'
const DATABASE_URL_FILE = 'database-url'
