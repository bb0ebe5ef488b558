import { domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'

/** True for `192.0.2.1` and `[2001:db8::1]`, as URL normalizes all their forms. */
export function isIpHost(host: string): boolean {
  return host.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)
}

/** True for names that are valid only inside one network. RFC 6761, RFC 6762, RFC 9476 and common practice. */
export function isLocalHost(host: string): boolean {
  return (
    !host.includes('.') || /\.(?:local|localhost|localdomain|internal|intranet|lan|corp|home|test|invalid)$/.test(host)
  )
}

export function isShortener(host: string): boolean {
  return SHORTENERS.has(host.replace(/^www\./, ''))
}

/** True if a label of the host (in A-labels) mixes letters of similar alphabets, or consists only of letters that
 *  look Latin. A name entirely in its own alphabet is fine. A subset of UTS 39 §5.1, §4 */
export function isLookAlike(host: string): boolean {
  if (!host.includes('xn--')) return false
  return domainToUnicode(host)
    .split('.')
    .some((label) => {
      if (!/[^\x00-\x7f]/.test(label)) return false
      const letters = [...label].filter((sign) => /\p{L}/u.test(sign))
      const isOther = (sign: string) =>
        /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(sign)
      const hasLatin = letters.some((sign) => /\p{Script=Latin}/u.test(sign))
      if (hasLatin && letters.some(isOther)) return true
      return letters.some(isOther) && letters.every((sign) => LIKE_LATIN.has(sign))
    })
}

/** Registered domain of a host, or the host itself. */
export function registeredDomainOf(host: string): string {
  return getDomain(host) ?? host
}

/** Visible text → its host if it is a web address and nothing else; null otherwise. */
export function hostShown(text: string): string | null {
  const [, scheme, host = ''] = SHOWN.exec(text) ?? []
  if (host === '') return null
  const lower = host.toLowerCase()
  // `Node.js` and `offer.pdf` are not hosts: without a scheme the ending must be a common one.
  const isSure =
    scheme !== undefined || lower.startsWith('www.') || COMMON_ENDINGS.has(lower.slice(lower.lastIndexOf('.') + 1))
  if (!isSure) return null
  return URL.parse(`http://${host}`)?.hostname ?? null
}

const SHOWN = /^\s*(https?:\/\/)?((?:[\p{L}\p{N}_-]{1,63}\.){1,10}[\p{L}\p{N}-]{2,63})(?::\d{1,5})?(?:[/?#]\S*)?\s*$/iu
const COMMON_ENDINGS = new Set(
  'com net org edu gov info biz io co me app dev eu de at ch uk fr es it nl be pl se no dk fi us ca au jp cn ru br in shop store online'.split(
    ' ',
  ),
)
// Cyrillic and Greek small letters that look like a, c, e, i, j, o, p, s, x, y, v, h, n, k, d, q, w, u, l, t.
const LIKE_LATIN = new Set('асеіјорѕхуѵһпкԁԛԝцӏтмгѡοανκρυιεχτ')
const SHORTENERS = new Set(
  (
    'bit.ly bitly.com tinyurl.com t.co goo.gl ow.ly is.gd v.gd buff.ly rebrand.ly cutt.ly rb.gy shorturl.at t.ly tiny.cc ' +
    'lnkd.in s.id soo.gd bl.ink short.io adf.ly bit.do mcaf.ee qr.ae x.co dlvr.it fb.me wp.me trib.al amzn.to ' +
    'kutt.it u.to clck.ru shorte.st'
  ).split(' '),
)
