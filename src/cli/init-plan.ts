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

/** A parsed config that could be written, and its files. */
export interface Draft {
  config: Config
  /** In the order of writing. */
  files: { path: string; text: string; mode: number }[]
}

/** The domain from the options or the prompt. Throws a usage fault if there is none or it is invalid. */
export async function chooseDomain({ domain }: InitOptions, ask: Prompt | null): Promise<string> {
  const given = domain ?? (await ask?.('Sending domain: ')) ?? ''
  if (given === '') throw usageFault('domain: missing. Set it with --domain example.com')
  const checked = checkDomainName(given)
  if ('fault' in checked) throw usageFault(`domain: ${checked.fault}`)
  return checked.name
}

/** The same for the hostname; defaults to `mail.` and the domain. */
export async function chooseHostname({ hostname }: InitOptions, domain: string, ask: Prompt | null): Promise<string> {
  const usual = `mail.${domain}`
  return hostname ?? ((await ask?.(`Public hostname of this machine [${usual}]: `)) || usual)
}

/** InitOptions → a Draft; throws all faults. A smarthost contains a password and is therefore written to a separate
 *  file. */
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

/** Readable by the server only. */
export const SECRET_MODE = 0o600
const SMARTHOST_FILE = 'smarthost'
