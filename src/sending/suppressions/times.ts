/** A time in an export → ms UTC; null if missing or unknown: seconds or milliseconds since 1970, ISO 8601 (UTC without
 *  an offset), a mail date (RFC 5322, also `GMT` and `UTC`). Never throws. */
export function parseTime(text: string | undefined): number | null {
  const given = text?.trim() ?? ''
  if (/^\d{9,10}$/.test(given)) return Number(given) * 1000
  if (/^\d{12,13}$/.test(given)) return Number(given)
  const match = ISO.exec(given)
  const at = match === null ? (MAIL.test(given) ? Date.parse(given) : Number.NaN) : Date.parse(isoOf(match))
  return Number.isNaN(at) ? null : at
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d)?)(\.\d{1,9})?)? ?([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?$/
const MAIL = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UTC|[+-]\d{4})$/

function isoOf([, day, time = '00:00', fraction = '', zone = 'Z']: RegExpExecArray): string {
  const offset = zone === 'UTC' ? 'Z' : /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.replace(/(\d\d)(\d\d)$/, '$1:$2')
  return `${day}T${time}${time.length === 5 ? ':00' : ''}${fraction.slice(0, 4)}${offset.toUpperCase()}`
}
