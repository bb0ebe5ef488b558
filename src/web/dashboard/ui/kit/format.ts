/** Formats times, numbers and sizes in English, as the texts around them, and in the browser's time zone. */

const DAY_MS = 86_400_000
export const LOCALE = 'en-GB'
const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const tenths = new Intl.DateTimeFormat(LOCALE, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
})
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const date = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', year: 'numeric' })
const whole = new Intl.NumberFormat(LOCALE)

/** ISO 8601 → `14:02` today, `21 Nov 14:02` within 180 days, otherwise `21 Nov 2025`. '' for null. Other text stays: a
 *  reply may have what only looks like a time. */
export const when = (iso: string | null | undefined): string => written(iso, clock)

/** Like `when`, to a tenth of a second: `14:02:11.3`. For timelines, where the order and the pauses count. */
export const precise = (iso: string | null | undefined): string => written(iso, tenths)

function written(iso: string | null | undefined, time: Intl.DateTimeFormat): string {
  if (!iso) return ''
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const now = new Date()
  if (at.toDateString() === now.toDateString()) return time.format(at)
  if (Math.abs(now.getTime() - at.getTime()) < 180 * DAY_MS) return `${day.format(at)} ${time.format(at)}`
  return date.format(at)
}

/** ISO 8601 → milliseconds since then, negative before it. */
export const msSince = (iso: string): number => Date.now() - Date.parse(iso)

/** ISO 8601 → `3 min ago` or `in 2 h`; `just now` within 5 s. '' for null. */
export function ago(iso: string | null | undefined): string {
  if (!iso) return ''
  const ms = msSince(iso)
  const words = duration(Math.abs(ms))
  return Math.abs(ms) < 5_000 ? 'just now' : ms > 0 ? `${words} ago` : `in ${words}`
}

/** ISO 8601 → `21 Nov 2026, 14:02:11 GMT+1`, for the title of a relative time. */
export function exact(iso: string): string {
  return new Date(iso).toLocaleString(LOCALE, { dateStyle: 'medium', timeStyle: 'long' })
}

/** Milliseconds → `840 ms`, `12 s`, `3 min`, `5 h`, `2 days`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 2 * DAY_MS) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / DAY_MS)} days`
}

/** `1,204` */
export function number(value: number): string {
  return whole.format(value)
}

/** Ratio → percentage, such as `0.12%` for 0.0012; '–' for null. */
export function percent(share: number | null | undefined, digits = 2): string {
  return share === null || share === undefined ? '–' : `${(share * 100).toFixed(digits)}%`
}

/** Bytes → `840 B`, `1.2 KiB`, `3.4 MiB`, `1.0 GiB`. */
export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`
  if (size < 1_048_576) return `${(size / 1_024).toFixed(1)} KiB`
  return size < 2 ** 30 ? `${(size / 1_048_576).toFixed(1)} MiB` : `${(size / 2 ** 30).toFixed(1)} GiB`
}

/** From header → the display name without quotes, such as `Shop` of `Shop <shop@example.com>`. The whole value if it has
 *  no name. Runs in linear time, since the value is untrusted. */
export function authorOf(from: string): string {
  const open = from.indexOf('<')
  if (open < 0 || !from.endsWith('>')) return from
  const name = from.slice(0, open).trim()
  return name.replace(/^"/, '').replace(/"$/, '') || from
}
