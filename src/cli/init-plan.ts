import { readFileSync } from 'node:fs'
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

/** Options → config and files to write. The URL of a smarthost contains a password, so it goes into a separate file;
 *  for `-` it is read from standard input. Throws CommandFailure (exit code 2) with all faults of the config. */
export function draftOf(options: InitOptions, hostname: string): Draft {
  const smarthost = options.smarthost === '-' ? readFileSync(0, 'utf8').trim() : (options.smarthost ?? '')
  const { config: path, contact, dataDir, https } = options
  const settings = { hostname, dataDir: dataDir && resolve(dataDir), contact, https }
  // Parsed with the smarthost inline, since its file does not exist yet.
  const whole = smarthost === '' ? settings : { ...settings, smarthost: { url: smarthost } }
  const read = readConfig({ text: initialConfig(whole), file: path, env: process.env })
  if (!read.config) throw configFailure(read.faults)
  const text = initialConfig(smarthost === '' ? settings : { ...settings, smarthost: { file: SMARTHOST_FILE } })
  const secret = { path: join(dirname(path), SMARTHOST_FILE), text: `${smarthost}\n`, mode: SECRET_MODE }
  return { config: read.config, files: [...(smarthost === '' ? [] : [secret]), { path, text, mode: 0o640 }] }
}

/** File mode for secrets: only the owner can read the file. */
export const SECRET_MODE = 0o600
const SMARTHOST_FILE = 'smarthost'
