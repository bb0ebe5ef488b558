/** Charset name in the form that decodeCharset compares. */
export function charsetLabel(charset: string): string {
  return charset
    .trim()
    .toLowerCase()
    .replace(/^["']|["']$/g, '')
}

// Names of ASCII that the WHATWG list omits or maps to windows-1252.
export const ASCII = new Set([
  'us-ascii',
  'ascii',
  'ansi_x3.4-1968',
  'unknown-8bit',
  'x-unknown',
  'default',
  'unknown',
  'x-user-defined',
])
export const UTF7 = new Set(['utf-7', 'utf7', 'unicode-1-1-utf-7', 'x-utf-7', 'csutf7'])
/** Charsets of two or four octets a character. Programs give their names also to UTF-8. */
export const WIDE = /^(?:utf-?(?:16|32)|ucs-?[24]|unicode$|iso-10646-ucs)/

/** Names used in mail that the WHATWG list omits. */
export const ALIASES = new Map([
  ['cp932', 'shift_jis'],
  ['iso2022jp', 'iso-2022-jp'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-2', 'iso-2022-jp'],
  ['iso-2022-jp-ms', 'iso-2022-jp'],
  ['iso-2022-jp-3', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
  ['cp50222', 'iso-2022-jp'],
  ['jis', 'iso-2022-jp'],
  ['ujis', 'euc-jp'],
  ['eucjp', 'euc-jp'],
  ['cp949', 'euc-kr'],
  ['ms949', 'euc-kr'],
  ['uhc', 'euc-kr'],
  ['euckr', 'euc-kr'],
  ['ks_c_5601', 'euc-kr'],
  ['cp936', 'gbk'],
  ['ms936', 'gbk'],
  ['gb18030-2000', 'gb18030'],
  ['cp950', 'big5'],
  ['utf-8mb4', 'utf-8'],
  ['utf_8', 'utf-8'],
  ['latin-1', 'windows-1252'],
  ['latin9', 'iso-8859-15'],
  ['latin-9', 'iso-8859-15'],
])

/** Name that no table has → the charset whose name it resembles; null if none. */
export function resembledBy(label: string): string | null {
  if (label.length > LONGEST_NAME) return null
  for (const [form, nameOf] of FORMS) {
    const found = form.exec(label)
    if (found !== null) return nameOf(found[1] ?? '')
  }
  return null
}

const LONGEST_NAME = 60

/** Names as programs misspell them, without the digits of the part: `windows1252`, `iso 8859-15`, `de_DE.ISO-8859-1`. */
const FORMS: readonly [RegExp, (part: string) => string][] = [
  [/(?:win|windows|cp|ms|^)[-_ ]?(125[0-8])(?!\d)/, (part) => `windows-${part}`],
  [/8859[-_ ]?(1[0-6]|[1-9])(?!\d)/, (part) => `iso-8859-${part}`],
  [/^(?:iso[-_ ]?)?latin[-_ ]?1?$/, () => 'windows-1252'],
  [/ascii|^ansi/, () => 'windows-1252'],
  [/koi8[-_ ]?([ru])/, (part) => `koi8-${part}`],
  [/gb[-_ ]?(?:2312|k)/, () => 'gbk'],
  [/gb[-_ ]?18030/, () => 'gb18030'],
  [/big[-_ ]?5/, () => 'big5'],
  [/tis[-_ ]?620|874$/, () => 'windows-874'],
  [/s(?:hift)?[-_ ]?jis|932$/, () => 'shift_jis'],
  [/euc[-_ ]?(jp|kr)/, (part) => `euc-${part}`],
  [/949$|ks[-_ ]?c[-_ ]?5601/, () => 'euc-kr'],
]
