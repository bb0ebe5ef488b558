/** `scheduled_at` as Resend accepts it → ms UTC; null for any other form. Forms: ISO 8601 with its offset, `in 5
 *  minutes`, `in an hour`, `tomorrow at 9am`, `today at 17:30`, `monday at 9am`, `next friday at 3:15 pm`,
 *  `tomorrow`. A time of day is UTC and may say so; other time zones, and a time that has passed today, give null. */
export function parseScheduledAt(text: string, now: number): number | null {
  if (text.length > LONGEST) return null
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ')
  return parseSpan(words, now) ?? parseDay(words, now) ?? parseIso(text.trim())
}

/** The longest form with single blanks has 35 characters. */
const LONGEST = 100
const SPAN = /^in (?:(\d{1,5})|an?) ?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

function parseSpan(words: string, now: number): number | null {
  const [, count = 1, unit = ''] = SPAN.exec(words) ?? []
  const seconds = SECONDS[unit.charAt(0)]
  return seconds === undefined ? null : now + Number(count) * seconds * 1000
}

const DAY =
  /^(?:(today|tomorrow)|(?:(?:on|next) )?(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?)(?: (?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: ?(?:utc|gmt|z))?)?$/
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const DAY_MS = 86_400_000

/** A weekday is the next one after today. Without a time of day, the current one is used. */
function parseDay(words: string, now: number): number | null {
  const match = DAY.exec(words)
  if (match === null) return null
  const [, near, weekday, hour, minute, half] = match
  const days = weekday === undefined ? Number(near === 'tomorrow') : daysUntil(weekday, now)
  if (hour === undefined) return near === 'today' ? null : now + days * DAY_MS
  const ofDay = timeOfDayMs(Number(hour), Number(minute ?? 0), half)
  if (ofDay === null) return null
  const at = now - (now % DAY_MS) + days * DAY_MS + ofDay
  return at < now ? null : at
}

function daysUntil(weekday: string, now: number): number {
  const wanted = WEEKDAYS.indexOf(weekday.slice(0, 3))
  return ((wanted - new Date(now).getUTCDay() + 6) % 7) + 1
}

function timeOfDayMs(hour: number, minute: number, half: string | undefined): number | null {
  if (minute > 59 || hour > 23 || (half !== undefined && (hour < 1 || hour > 12))) return null
  const hours = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0)
  return (hours * 60 + minute) * 60_000
}

const ISO = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)$|^\d{4}-\d\d-\d\d$/

function parseIso(text: string): number | null {
  const at = ISO.test(text) ? Date.parse(text.replace(' ', 'T').replace(',', '.')) : Number.NaN
  return Number.isNaN(at) ? null : at
}
