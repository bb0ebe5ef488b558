import { trimBlanks } from './blanks.ts'

/** A mail domain's requirements for senders, from its policy file. RFC 8461 §3.2 */
export interface MtaSts {
  /** `enforce`: do not deliver over an unverified connection. `testing`: report, but deliver. `none`: no policy. */
  mode: 'enforce' | 'testing' | 'none'
  /** Mail host names in lower case; a leading `*.` matches exactly one label. */
  mx: string[]
  /** How long the policy is valid after the fetch; at most a year. */
  maxAgeSeconds: number
}

/** TXT records of `_mta-sts.<domain>` → the policy id, which changes with the policy. Null if there is none: no record
 *  of this version, several, or a malformed one. RFC 8461 §3.1 */
export function readMtaStsId(records: readonly string[]): string | null {
  const ours = records.filter((record) => /^v=STSv1[ \t]*(;|$)/.test(record))
  const [only] = ours
  if (only === undefined || ours.length > 1) return null
  const fields = only.split(';').slice(1)
  const ids = fields.flatMap((field) => /^[ \t]*id=([A-Za-z0-9]{1,32})[ \t]*$/.exec(field)?.[1] ?? [])
  return ids[0] ?? null
}

/** Text of a policy file → the policy, or why it is invalid. The first of a repeated field counts, except for `mx`;
 *  unknown fields are ignored. Reads at most 500 lines: the text is untrusted, and 64 KiB of short lines took 10 to 20
 *  ms. RFC 8461 §3.2 */
export function readMtaSts(text: string): MtaSts | { invalid: string } {
  const fields = new Map<string, string>()
  const mx: string[] = []
  const lines = text.split(/\r?\n/, MAX_LINES + 2)
  if (lines.at(-1) === '') lines.pop()
  if (lines.length > MAX_LINES) return { invalid: `more than ${MAX_LINES} lines` }
  for (const line of lines) {
    const [, name, written = ''] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/.exec(line) ?? []
    if (name === undefined) return { invalid: 'a line is not "name: value"' }
    const value = trimBlanks(written)
    if (name === 'mx') mx.push(value.toLowerCase())
    else if (!fields.has(name)) fields.set(name, value)
  }
  const mode = fields.get('mode') ?? ''
  const maxAge = fields.get('max_age') ?? ''
  if (fields.get('version') !== 'STSv1') return { invalid: 'version is not STSv1' }
  if (!isMode(mode)) return { invalid: 'mode is not enforce, testing or none' }
  if (!/^\d{1,10}$/.test(maxAge)) return { invalid: 'max_age is not a number of seconds' }
  if (mx.length > MAX_HOSTS) return { invalid: `more than ${MAX_HOSTS} mx lines` }
  if (!mx.every((pattern) => PATTERN.test(pattern))) return { invalid: 'an mx value is not a host name' }
  if (mx.length === 0 && mode !== 'none') return { invalid: 'no mx line' }
  return { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), YEAR_SECONDS) }
}

/** Policy → its file, which readMtaSts can read. */
export function writeMtaSts({ mode, mx, maxAgeSeconds }: MtaSts): string {
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx.map((host) => `mx: ${host}`), `max_age: ${maxAgeSeconds}`]
  return lines.map((line) => `${line}\r\n`).join('')
}

/** Mail host name (A-label) → whether the policy lists it. RFC 8461 §4.1 */
export function listsHost(mx: readonly string[], host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  const parent = name.slice(name.indexOf('.') + 1)
  return mx.some((pattern) =>
    pattern.startsWith('*.') ? name.includes('.') && pattern.slice(2) === parent : pattern === name,
  )
}

const YEAR_SECONDS = 31_557_600 // RFC 8461 §3.2
const MAX_HOSTS = 200
const MAX_LINES = 500 // ours: the hosts, three more fields, and as many unknown ones
const PATTERN = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

const isMode = (text: string): text is MtaSts['mode'] => text === 'enforce' || text === 'testing' || text === 'none'
