/** Format of SendGrid's formatDate (`MMM Do, YYYY`-style tokens) → strftime, as Liquid's `date` takes it; null if it has
 *  a token without an equivalent. */
export function strftimeOf(format: string): string | null {
  let found = ''
  for (const [token] of format.matchAll(/[A-Za-z]+|[^A-Za-z]+/g)) {
    const part = /[A-Za-z]/.test(token) ? TOKENS.get(token) : token.replaceAll('%', '%%')
    if (part === undefined) return null
    found += part
  }
  return found
}

const TOKENS = new Map(
  Object.entries({
    YYYY: '%Y',
    YY: '%y',
    MMMM: '%B',
    MMM: '%b',
    MM: '%m',
    M: '%-m',
    DD: '%d',
    D: '%-d',
    dddd: '%A',
    ddd: '%a',
    HH: '%H',
    H: '%-H',
    hh: '%I',
    h: '%-I',
    mm: '%M',
    ss: '%S',
    A: '%p',
    a: '%P',
  }),
)
