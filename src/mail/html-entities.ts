/** Text with HTML character references → text. Knows the names of HTML 4 that occur in mails, those of ASCII signs and
 *  every number; an unknown name stays as it is, as does a newer one that lacks its semicolon. Numbers that are no
 *  character become U+FFFD, 128–159 are read as Windows-1252 as browsers do. Never throws.
 *  HTML Living Standard §13.2.5.72–80. */
export function decodeEntities(text: string): string {
  return decode(text, false)
}

/** Raw value of an attribute → value. As `decodeEntities`, but a name that lacks its semicolon and stands before `=` is
 *  a parameter of a link: `?a=1&copy=2` stays what it is.  HTML Living Standard §13.2.5.73 */
export function decodeAttribute(value: string): string {
  return decode(value, true)
}

function decode(text: string, isAttribute: boolean): string {
  let at = text.indexOf('&')
  if (at < 0) return text
  let decoded = ''
  let start = 0
  for (; at >= 0; at = text.indexOf('&', at + 1)) {
    let end = at + 1
    if (text.charCodeAt(end) === 35) end++
    while (end - at < LONGEST && isLetterOrDigit(text.charCodeAt(end))) end++
    const name = text.slice(at + 1, end)
    const meaning = meaningOf(name)
    if (meaning === undefined) continue
    const next = text.charCodeAt(end)
    if (next !== 59 && name.charCodeAt(0) !== 35 && (!BARE.has(name) || (isAttribute && next === 61))) continue
    decoded += text.slice(start, at) + meaning
    start = next === 59 ? end + 1 : end
    at = start - 1
  }
  return decoded + text.slice(start)
}

const LONGEST = 10 // `&#x10ffff` and every name below fit
// Names of U+00A0 to U+00FF in their order.
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const OTHERS: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  AMP: '&',
  LT: '<',
  GT: '>',
  QUOT: '"',
  OElig: 'Œ',
  oelig: 'œ',
  Scaron: 'Š',
  scaron: 'š',
  Yuml: 'Ÿ',
  fnof: 'ƒ',
  circ: 'ˆ',
  tilde: '˜',
  ensp: '\u2002',
  emsp: '\u2003',
  thinsp: '\u2009',
  zwnj: '\u200c',
  zwj: '\u200d',
  lrm: '\u200e',
  rlm: '\u200f',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  dagger: '†',
  Dagger: '‡',
  bull: '•',
  hellip: '…',
  permil: '‰',
  prime: '′',
  Prime: '″',
  lsaquo: '‹',
  rsaquo: '›',
  euro: '€',
  trade: '™',
  larr: '←',
  uarr: '↑',
  rarr: '→',
  darr: '↓',
  harr: '↔',
  minus: '−',
  infin: '∞',
  ne: '≠',
  le: '≤',
  ge: '≥',
  asymp: '≈',
  check: '✓',
  star: '☆',
  hearts: '♥',
  numsp: '\u2007',
  nbhy: '\u2011',
  // Signs of ASCII that have names as well: a link can be written with them.
  Tab: '\t',
  NewLine: '\n',
  excl: '!',
  num: '#',
  dollar: '$',
  percnt: '%',
  lpar: '(',
  rpar: ')',
  ast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  equals: '=',
  quest: '?',
  commat: '@',
  lowbar: '_',
}
const NAMED = new Map([
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...Object.entries(OTHERS),
])
/** Those that are read without their semicolon too. */
const BARE = new Set([...LATIN_1.split(' '), 'amp', 'lt', 'gt', 'quot', 'AMP', 'LT', 'GT', 'QUOT'])
const HEX = /^[0-9a-f]+$/i
const DECIMAL = /^[0-9]+$/
const WINDOWS_1252 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ'

function meaningOf(reference: string): string | undefined {
  if (reference.charCodeAt(0) !== 35) return NAMED.get(reference)
  const isHex = (reference.charCodeAt(1) | 32) === 120
  const digits = reference.slice(isHex ? 2 : 1)
  return (isHex ? HEX : DECIMAL).test(digits) ? character(Number.parseInt(digits, isHex ? 16 : 10)) : undefined
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function character(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return WINDOWS_1252[code - 0x80]!
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd'
  return code < 32 && code !== 9 && code !== 10 && code !== 13 ? '' : String.fromCodePoint(code)
}
