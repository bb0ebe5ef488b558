import { toALabel } from './address.ts'
import { decodeWords } from './encoded-words.ts'

/** Value of an address header from the wild → its addresses in order, without names; unreadable ones are omitted, so it
 *  may be empty. Accepts comments, quoted names, groups, source routes, missing brackets, and commas in brackets that
 *  never close. The domain is a lower-case A-label if valid, else lower-case as written. This parser guesses; use
 *  parseMailbox for mail that we send. At most 2,000 addresses; linear, never throws. RFC 5322 §3.4, §4.4 */
export function addressesOf(value: string): string[] {
  return Array.from(readAddresses(value))
}

/** The first result of addressesOf; null for none. */
export function firstAddress(value: string): string | null {
  return readAddresses(value).next().value ?? null
}

const MAX_ADDRESSES = 2_000
const LONGEST_ITEM = 4_000 // a display name may be long; anything longer is not a mailbox
const LONGEST_ADDRESS = 320 // 64 + 1 + 255, RFC 5321 §4.5.3.1

function* readAddresses(value: string): Generator<string, undefined> {
  let found = 0
  for (const item of itemsOf(value)) {
    const address = addressOf(item)
    if (address === null) continue
    yield address
    if (++found === MAX_ADDRESSES) return
  }
}

/** The text between two commas. `inner` is the content of its last brackets; null without brackets. */
interface Item {
  outer: string
  inner: string | null
}

function* itemsOf(value: string): Generator<Item> {
  let item: Item = { outer: '', inner: null }
  let place: 'outer' | 'inner' | 'route' = 'outer'
  let hasAt = false // in the text before any brackets
  let quotesClose = true
  let commentsClose = true
  const add = (text: string) => {
    if (place === 'outer') item.outer += text
    else item.inner += text
  }
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at)
    if (char === '"' && quotesClose) {
      const end = endOfQuoted(value, at)
      quotesClose = end > 0
      add(quotesClose ? value.slice(at, end) : char)
      if (quotesClose) at = end - 1
    } else if (char === '(') {
      const end: number = commentsClose ? endOfComment(value, at) : -1
      commentsClose = end > 0
      add(' ')
      if (commentsClose) at = end - 1
    } else if (char === '<') {
      item.inner = ''
      place = value[at + 1] === '@' ? 'route' : 'inner' // `<@relay.example,@other.example:a@b.example>`
    } else if (char === '>' && place !== 'outer') {
      place = 'outer'
    } else if (char === ':' && place === 'route') {
      item.inner = ''
      place = 'inner'
    } else if ((char === ',' && place !== 'route') || char === ';') {
      yield item
      item = { outer: '', inner: null }
      place = 'outer'
      hasAt = false
    } else if (char === ':' && place === 'outer' && !hasAt) {
      item.outer = '' // the name of a group, or `mailto`
    } else {
      if (char === '@' && place === 'outer') hasAt = true
      add(char)
    }
  }
  yield item
}

/** Offset behind the quoted string that starts at `at`; -1 if it never ends. */
export function endOfQuoted(value: string, at: number): number {
  for (let end = at + 1; end < value.length; end++) {
    if (value[end] === '\\') end++
    else if (value[end] === '"') return end + 1
  }
  return -1
}

/** The same for a comment, which may contain others. */
export function endOfComment(value: string, at: number): number {
  let depth = 0
  for (let end = at; end < value.length; end++) {
    const char = value[end]
    if (char === '\\') end++
    else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return end + 1
  }
  return -1
}

function addressOf(item: Item): string | null {
  const written = item.inner ?? item.outer
  if (written.length > LONGEST_ITEM) return null
  const text = decodeWords(written)
    .replace(/\s+/g, ' ')
    .replace(/ ?([@.]) ?/g, '$1')
    .trim()
  const at = text.lastIndexOf('@')
  if (at < 1) return null
  // Without brackets, a name may precede and text may follow.
  const isBare = item.inner === null
  const local = isBare ? lastWord(text.slice(0, at)) : text.slice(0, at)
  const domain = isBare ? (/^[^ ()'\\]+/.exec(text.slice(at + 1))?.[0] ?? '') : text.slice(at + 1)
  if (local.length + domain.length >= LONGEST_ADDRESS || !LOCAL.test(local) || !DOMAIN.test(domain)) return null
  return `${local}@${toALabel(domain) ?? domain.toLowerCase()}`
}

function lastWord(text: string): string {
  const end = text.slice(-LONGEST_ADDRESS)
  if (!end.endsWith('"')) return end.slice(Math.max(end.lastIndexOf(' '), end.lastIndexOf('"')) + 1)
  for (let open = end.indexOf('"'); open >= 0; ) {
    const behind = endOfQuoted(end, open)
    if (behind === end.length) return end.slice(open)
    open = behind - 1 // the quote that closed this one may open the next; -2 ends the loop
  }
  return ''
}

// A quoted string, or text without blanks, control characters and the specials of RFC 5322 §3.2.3.
const LOCAL = /^(?:"(?:[^"\\\x00-\x1f\x7f]|\\[^\x00-\x1f\x7f])*"|[^\s\x00-\x1f\x7f"()<>@,;:\\[\]]+)$/
const DOMAIN = /^[^\s\x00-\x1f\x7f"()<>@,;\\]+$/
