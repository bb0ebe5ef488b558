import { Malformed } from './wire.ts'

/** One key of a file of allowed signers (ssh-keygen(1), ALLOWED SIGNERS). */
export interface AllowedSigner {
  /** As in the file: names that people recognise the key by. */
  principals: string
  /** Public key in SSH's format. */
  key: Buffer
  /** Patterns of namespaces; null = all. */
  namespaces: string[] | null
  /** ms UTC; the key counts from `validAfter` on and before `validBefore`. */
  validAfter: number
  validBefore: number
}

const MOST_CHARACTERS = 65_536
const MOST_LINES = 200
const KEY_TYPE = /^(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const OPTION = /^([a-z-]+)(?:="([^"]*)")?$/
const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/

/** A file of allowed signers → its keys, without lines of certificate authorities. Throws Malformed with the number of
 *  the first line that it cannot read: a key with an option that is not understood must not count. */
export function parseAllowedSigners(text: string): AllowedSigner[] {
  if (text.length > MOST_CHARACTERS) throw new Malformed('the list of signers is too long')
  const lines = text.split(/\r?\n/)
  if (lines.length > MOST_LINES) throw new Malformed('the list of signers is too long')
  return lines.flatMap((line, at) => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const signer = signerIn(trimmed)
    if (signer === null) throw new Malformed(`line ${at + 1} of the list of signers is not a signer`)
    return signer === 'authority' ? [] : [signer]
  })
}

/** Whether the key may sign in this namespace at this time. */
export function mayBeUsed(signer: AllowedSigner, namespace: string, now: number): boolean {
  const isInTime = now >= signer.validAfter && now < signer.validBefore
  return isInTime && (signer.namespaces === null || isInList(namespace, signer.namespaces))
}

function signerIn(line: string): AllowedSigner | 'authority' | null {
  const fields = splitOutsideQuotes(line, ' \t')
  const [principals = '', second = ''] = fields
  const options = KEY_TYPE.test(second) ? '' : second
  const [type = '', key = ''] = fields.slice(options === '' ? 1 : 2)
  if (!KEY_TYPE.test(type) || !BASE64.test(key)) return null
  const signer: AllowedSigner = {
    principals: principals.replaceAll('"', ''),
    key: Buffer.from(key, 'base64'),
    namespaces: null,
    validAfter: Number.NEGATIVE_INFINITY,
    validBefore: Number.POSITIVE_INFINITY,
  }
  for (const option of splitOutsideQuotes(options, ',')) {
    const [, name, value] = OPTION.exec(option) ?? []
    if (name === 'cert-authority') return 'authority'
    if (value === undefined) return null
    if (name === 'namespaces') signer.namespaces = value.split(',')
    else if (name === 'valid-after') signer.validAfter = timeOf(value)
    else if (name === 'valid-before') signer.validBefore = timeOf(value)
    else return null
    if (Number.isNaN(signer.validAfter) || Number.isNaN(signer.validBefore)) return null
  }
  return signer
}

/** The parts between separators that are not in quotes, without empty ones. */
function splitOutsideQuotes(text: string, separators: string): string[] {
  const parts = ['']
  let isQuoted = false
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    if (!isQuoted && separators.includes(character)) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part !== '')
}

/** `20261126`, `202611261200` or `20261126120059`, in the zone of this machine or with Z in UTC → ms; NaN for others. */
function timeOf(text: string): number {
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone] = TIME.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`)
}

/** A match_pattern_list of OpenSSH: one pattern matches, and none with `!` before it. */
function isInList(namespace: string, patterns: readonly string[]): boolean {
  const [no, yes] = [patterns.filter((each) => each.startsWith('!')), patterns.filter((each) => !each.startsWith('!'))]
  return yes.some((each) => matches(namespace, each)) && !no.some((each) => matches(namespace, each.slice(1)))
}

/** Whether a pattern with `*` and `?` covers the whole text (ssh_config(5), PATTERNS). It goes back only to the last
 *  star, so it takes at most the product of both lengths. */
function matches(text: string, pattern: string): boolean {
  let [at, star, mark] = [0, -1, 0]
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === '*') [star, mark, at] = [at, i, at + 1]
    else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[i])) [at, i] = [at + 1, i + 1]
    else if (star >= 0) [at, mark, i] = [star + 1, mark + 1, mark + 1]
    else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
