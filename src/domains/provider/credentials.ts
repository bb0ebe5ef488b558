import { readFileSync, statSync } from 'node:fs'
import { type DnsProvider, prefixOf } from './providers.ts'

/** Environment variables of lexicon for one provider: its credentials. */
export type Credentials = Readonly<Record<string, string>>

/** The credentials are missing, or their file is unsafe or invalid. The message says what to do. */
export class CredentialsFault extends Error {
  override name = 'CredentialsFault'
}

/** The variables of the provider in the environment, and in the file, which adds those that the environment does not
 *  have. `file` is '' for none. They stay in memory only. Throws CredentialsFault. */
export function credentialsOf(
  provider: DnsProvider,
  file: string,
  env: Record<string, string | undefined>,
): Credentials {
  const prefix = prefixOf(provider.name)
  const given = { ...(file === '' ? {} : readCredentials(file)), ...env }
  const own = Object.entries(given).filter(([name, value]) => name.startsWith(prefix) && value)
  const missing = provider.needs.filter((name) => !own.some(([known]) => known === name))
  if (provider.needs.length === 0 && own.length === 0) missing.push(`${prefix}…`)
  if (missing.length === 0) return Object.fromEntries(own) as Credentials
  const where =
    file === '' ? 'the environment, or in the file of dns.credentials_file' : `the environment or in ${file}`
  throw new CredentialsFault(`${provider.name} needs ${missing.join(', ')}. Set it in ${where}.`)
}

/** Lines `NAME=value`; empty ones and those that begin with `#` are ignored. */
function readCredentials(file: string): Record<string, string> {
  const { mode } = statSync(file)
  if ((mode & 0o077) !== 0) {
    throw new CredentialsFault(`${file}: expected a file that only its owner can read. Run: chmod 600 on it.`)
  }
  const found: Record<string, string> = {}
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const equals = text.indexOf('=')
    const name = text.slice(0, equals)
    // The line may be a secret, so the message has only its number.
    if (equals < 1 || !/^[A-Z0-9_]+$/.test(name)) throw new CredentialsFault(`${file}:${at + 1}: expected NAME=value`)
    found[name] = text.slice(equals + 1)
  }
  return found
}
