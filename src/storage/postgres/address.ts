import { readFileSync } from 'node:fs'
import { DatabaseUnusable } from '../errors.ts'

/** Where a database is: all servers of the URL, of which one accepts writes. */
export interface DatabaseAddress {
  hosts: readonly { host: string; port: number }[]
  user: string
  password: string
  database: string
  /** `verify` checks the certificate and the name; `encrypt` checks neither. */
  tls: 'verify' | 'encrypt' | 'none'
  /** PEM roots for `verify`, instead of the built-in ones. */
  ca?: string
}

const PORT = 5432
const SCHEMES = ['postgres://', 'postgresql://']
const MODES: Readonly<Record<string, DatabaseAddress['tls']>> = {
  'verify-full': 'verify',
  require: 'encrypt',
  disable: 'none',
}

/** URL, and the PEM file of the CA certificates (null = the built-in ones) → address. Throws as parseDatabaseUrl, and
 *  system errors if the file cannot be read. */
export function databaseAddress({ url, caFile }: { url: string; caFile: string | null }): DatabaseAddress {
  const address = parseDatabaseUrl(url)
  return caFile === null ? address : { ...address, ca: readFileSync(caFile, 'utf8') }
}

/** `postgres://user:password@host1:5432,host2/database?sslmode=verify-full` → its parts (PostgreSQL manual 34.1.1.2).
 *
 *  A host that starts with `/` or `%2F` is the folder of a Unix socket. Without `sslmode`, certificates are verified
 *  unless all hosts are on this machine. Throws DatabaseUnusable, which says what is wrong without the password. */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const scheme = SCHEMES.find((each) => url.startsWith(each))
  if (scheme === undefined) throw wrongUrl('the database URL must start with postgres://')
  const [address = '', query = ''] = splitOnce(url.slice(scheme.length), '?')
  const parameters = new URLSearchParams(query)
  const [authority = '', path = ''] = splitOnce(address, '/')
  const at = authority.lastIndexOf('@')
  const [user = '', password = ''] = splitOnce(authority.slice(0, Math.max(at, 0)), ':')
  const hosts = authority.slice(at + 1) || (parameters.get('host') ?? '')
  if (hosts === '') throw wrongUrl('the database URL contains no host')
  const mode = parameters.get('sslmode')
  if (mode !== null && MODES[mode] === undefined) {
    throw wrongUrl(`sslmode ${mode} is not supported; use verify-full, require or disable`)
  }
  const parsed = hosts.split(',').map(hostOf)
  const name = decoded(user) || 'postgres'
  return {
    hosts: parsed,
    user: name,
    password: decoded(password),
    database: decoded(path) || name,
    tls: MODES[mode ?? ''] ?? (parsed.every(({ host }) => isLocal(host)) ? 'none' : 'verify'),
  }
}

function hostOf(text: string): { host: string; port: number } {
  // An IPv6 address contains colons and is in brackets.
  const end = text.lastIndexOf(':') > text.lastIndexOf(']') ? text.lastIndexOf(':') : text.length
  const host = decoded(text.slice(0, end)).replace('[', '').replace(']', '')
  const port = end === text.length ? PORT : Number(text.slice(end + 1))
  if (host === '') throw wrongUrl('the database URL contains an empty host')
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrongUrl(`the port of ${host} is not a number`)
  return { host, port }
}

const isLocal = (host: string) =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.')

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrongUrl('the database URL contains an invalid percent encoding')
  }
}

const wrongUrl = (message: string) => new DatabaseUnusable(message, { isWrongUrl: true })
