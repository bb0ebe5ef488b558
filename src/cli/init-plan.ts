import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../config/load.ts'
import { checkDomainName } from '../domains/name.ts'
import type { Ask } from './ask.ts'
import { configFailure, usageFault } from './failure.ts'
import { initialConfig } from './init-texts.ts'

/** What `init` was told. */
export interface Wishes {
  config: string
  domain?: string
  hostname?: string
  dataDir?: string
  contact?: string
  /** And with it a certificate from the usual authority, whose terms are agreed to. */
  https?: true
  /** `-`: a line of standard input. */
  smarthost?: string
}

/** A config that could be written, and the files it takes; read as it will be read. */
export interface Draft {
  config: Config
  /** Path → text and mode, in the order of writing. */
  files: { path: string; text: string; mode: number }[]
}

/** The domain that was named, or the answer of whoever sits there. Throws a fault of usage for none, and for what is none. */
export async function chooseDomain({ domain }: Wishes, ask: Ask | null): Promise<string> {
  const given = domain ?? (await ask?.('The domain to send from: ')) ?? ''
  if (given === '') throw usageFault('domain: say which with --domain example.com')
  const checked = checkDomainName(given)
  if ('fault' in checked) throw usageFault(`domain: ${checked.fault}`)
  return checked.name
}

/** The same for the machine's name; `mail.` and the domain when nobody says otherwise. */
export async function chooseHostname({ hostname }: Wishes, domain: string, ask: Ask | null): Promise<string> {
  const usual = `mail.${domain}`
  return hostname ?? ((await ask?.(`The public name of this machine [${usual}]: `)) || usual)
}

/** Wishes → a Draft; throws every fault of it. A smarthost, which has a password in it, gets a file of its own. */
export function draftOf(wishes: Wishes, hostname: string): Draft {
  const smarthost = wishes.smarthost === '-' ? readFileSync(0, 'utf8').trim() : (wishes.smarthost ?? '')
  const { config: path, contact, dataDir, https } = wishes
  const decided = { hostname, dataDir: dataDir && resolve(dataDir), contact, https }
  // Read with the smarthost in it, since the file with it is not there yet.
  const whole = smarthost === '' ? decided : { ...decided, smarthost: { url: smarthost } }
  const read = readConfig({ text: initialConfig(whole), file: path, env: process.env })
  if (!read.config) throw configFailure(read.faults)
  const text = initialConfig(smarthost === '' ? decided : { ...decided, smarthost: { file: SMARTHOST_FILE } })
  const secret = { path: join(dirname(path), SMARTHOST_FILE), text: `${smarthost}\n`, mode: SECRET_MODE }
  return { config: read.config, files: [...(smarthost === '' ? [] : [secret]), { path, text, mode: 0o640 }] }
}

/** For nobody but the server. */
export const SECRET_MODE = 0o600
const SMARTHOST_FILE = 'smarthost'
