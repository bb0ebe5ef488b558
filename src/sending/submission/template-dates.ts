import {
  type Context,
  type FilterImplOptions,
  filters,
  type Liquid,
  type Template as Node,
  TokenKind,
  toValue,
  toValueSync,
} from 'liquidjs'

/** The filter `date`, which writes the same on every machine, in English. It has the conversions of C's strftime (ISO C
 *  7.27.3.5), those that Ruby adds, because Liquid was first written in Ruby, and Liquid's own `%q`. */

/** Replaces the filter. A conversion that does not exist stays as it is written. */
export function formatDates(liquid: Liquid): void {
  liquid.registerFilter('date', date)
}

const date: Extract<FilterImplOptions, (...values: never[]) => unknown> = function (value, format, zone) {
  const wanted = String(toValue(format) ?? DEFAULT_FORMAT)
  const read: unknown = libraryDate.call(this, value, FIELDS, zone)
  const found = typeof read === 'string' ? FIELD_PATTERN.exec(read) : null
  if (found === null) return value
  const [year, month, day, hour, minute, second, milli, weekday, yearDay, epoch] = found.slice(1).map(Number)
  const moment = { year, month, day, hour, minute, second, milli, weekday, yearDay, epoch } as Moment // all matched
  moment.offset = found[11]!
  moment.zone = zone ?? 'UTC'
  return strftime(moment, wanted, this.context)
}

const libraryDate = filters.date as unknown as (this: { context: Context }, ...given: unknown[]) => unknown
const DEFAULT_FORMAT = '%A, %B %-e, %Y at %-l:%M %P %z'
const FIELDS = '%Y %-m %-d %-H %-M %-S %-L %w %-j %s %z'
const FIELD_PATTERN = /^(-?\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d) (\d+) (-?\d+) ([+-]\d{4})$/

/** A moment in its time zone. */
interface Moment {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  milli: number
  /** From 0, Sunday. */
  weekday: number
  /** From 1. */
  yearDay: number
  /** Seconds since 1970. */
  epoch: number
  /** `+0100` */
  offset: string
  /** Its name, or minutes west of UTC. */
  zone: unknown
}

/** Flags, width, modifier, conversion. */
const CONVERSION = /%([-_0^#:]*)(\d*)[EO]?([\s\S]?)/g

function strftime(moment: Moment, format: string, context: Context): string {
  return format.replace(CONVERSION, (whole, flags: string, width: string, letter: string) => {
    context.memoryLimit.use(CONVERSION_COST + Number(width))
    const composed = COMPOSED.get(letter)
    if (composed !== undefined) return shaped(strftime(moment, composed, context), { flags, width, fill: ' ' })
    const number = NUMBERS.get(letter)
    if (number !== undefined) {
      const [digits, fill, read] = number
      return shaped(String(read(moment)), { flags, width: width || digits, fill })
    }
    const text = TEXTS.get(letter)?.(moment, flags, width)
    return text === undefined ? whole : shaped(text, { flags, width: letter === 'N' ? '' : width, fill: ' ' })
  })
}

const CONVERSION_COST = 100

/** Applies case, fill and width. `-` means no width. */
function shaped(text: string, { flags, width, fill }: { flags: string; width: string | number; fill: string }): string {
  const cased = flags.includes('^') ? text.toUpperCase() : flags.includes('#') ? swapped(text) : text
  if (flags.includes('-')) return cased
  const filler = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : fill
  if (filler === '0' && cased.startsWith('-')) return `-${cased.slice(1).padStart(Number(width) - 1, '0')}`
  return cased.padStart(Number(width), filler)
}

const swapped = (text: string) => (/[a-z]/.test(text) ? text.toUpperCase() : text.toLowerCase())

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const COMPOSED = new Map(
  Object.entries({
    c: '%a %b %e %H:%M:%S %Y',
    D: '%m/%d/%y',
    F: '%Y-%m-%d',
    R: '%H:%M',
    r: '%I:%M:%S %p',
    T: '%H:%M:%S',
    v: '%e-%^b-%Y',
    x: '%m/%d/%y',
    X: '%H:%M:%S',
    '+': '%a %b %e %H:%M:%S %Z %Y',
  }),
)

type NumberConversion = [digits: number, fill: string, valueOf: (moment: Moment) => number]

const NUMBERS = new Map(
  Object.entries<NumberConversion>({
    C: [2, '0', ({ year }) => Math.floor(year / 100)],
    d: [2, '0', ({ day }) => day],
    e: [2, ' ', ({ day }) => day],
    G: [4, '0', (moment) => isoWeek(moment).year],
    g: [2, '0', (moment) => modulo(isoWeek(moment).year, 100)],
    H: [2, '0', ({ hour }) => hour],
    I: [2, '0', ({ hour }) => hour % 12 || 12],
    j: [3, '0', ({ yearDay }) => yearDay],
    k: [2, ' ', ({ hour }) => hour],
    l: [2, ' ', ({ hour }) => hour % 12 || 12],
    L: [3, '0', ({ milli }) => milli],
    m: [2, '0', ({ month }) => month],
    M: [2, '0', ({ minute }) => minute],
    S: [2, '0', ({ second }) => second],
    s: [0, '0', ({ epoch }) => epoch],
    U: [2, '0', ({ yearDay, weekday }) => weekOf(yearDay, weekday)],
    u: [1, '0', ({ weekday }) => weekday || 7],
    V: [2, '0', (moment) => isoWeek(moment).week],
    W: [2, '0', ({ yearDay, weekday }) => weekOf(yearDay, modulo(weekday - 1, 7))],
    w: [1, '0', ({ weekday }) => weekday],
    Y: [4, '0', ({ year }) => year],
    y: [2, '0', ({ year }) => modulo(year, 100)],
  }),
)

const TEXTS = new Map(
  Object.entries<(moment: Moment, flags: string, width: string) => string>({
    A: ({ weekday }) => DAYS[weekday]!,
    a: ({ weekday }) => DAYS[weekday]!.slice(0, 3),
    B: ({ month }) => MONTHS[month - 1]!,
    b: ({ month }) => MONTHS[month - 1]!.slice(0, 3),
    h: ({ month }) => MONTHS[month - 1]!.slice(0, 3),
    N: ({ milli }, _flags, width) =>
      String(milli)
        .padStart(3, '0')
        .padEnd(9, '0')
        .padEnd(Number(width), '0')
        .slice(0, Number(width) || 9),
    P: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
    p: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
    q: ({ day }) => ordinalOf(day),
    Z: zoneName,
    z: ({ offset }, flags) => offsetWith(offset, flags.split(':').length - 1),
    n: () => '\n',
    t: () => '\t',
    '%': () => '%',
  }),
)

const modulo = (value: number, by: number) => ((value % by) + by) % by
/** Days before the first such day of the year belong to week 0. */
const weekOf = (yearDay: number, daysSinceStart: number) => Math.floor((yearDay + 6 - daysSinceStart) / 7)

/** ISO 8601: a week belongs to the year of its Thursday. */
function isoWeek({ year, yearDay, weekday }: Moment): { year: number; week: number } {
  const thursday = yearDay + 3 - modulo(weekday - 1, 7)
  if (thursday < 1) return { year: year - 1, week: Math.floor((thursday + daysIn(year - 1) - 1) / 7) + 1 }
  if (thursday > daysIn(year)) return { year: year + 1, week: 1 }
  return { year, week: Math.floor((thursday - 1) / 7) + 1 }
}

const daysIn = (year: number) => ((year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 366 : 365)

function ordinalOf(day: number): string {
  const ending = ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
  return day >= 11 && day <= 13 ? 'th' : ending
}

function offsetWith(offset: string, colons: number): string {
  const [hours, minutes] = [offset.slice(0, 3), offset.slice(3)]
  return colons === 0 ? offset : `${hours}:${minutes}${colons === 2 ? ':00' : ''}`
}

/** `UTC`, `EST`, `GMT+1`; the offset where only that is given. */
function zoneName({ zone, offset, epoch }: Moment): string {
  if (zone === 'UTC') return zone
  if (typeof zone !== 'string') return offset
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'short' }).formatToParts(epoch * 1000)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? offset
}

/** A conversion in the literal formats of the nodes that does not exist, or a time zone; with its node. */
export function dateFaultIn(nodes: Node[]): { message: string; node: Node } | null {
  for (const node of nodes) {
    for (const { name, args } of filtersOf(node)) {
      const [format, zone] = name === 'date' ? args.map(literalOf) : []
      const message = (format && formatFault(format)) ?? (zone && zoneFault(zone))
      if (message) return { message, node }
    }
    const inside = dateFaultIn((toValueSync(node.children?.(false, true)) as Node[] | undefined) ?? [])
    if (inside !== null) return inside
  }
  return null
}

/** Filters of its values; the library does not export the type of all of them. */
function filtersOf(node: Node): { name: string; args: unknown[] }[] {
  const values = [...(node.arguments?.() ?? [])] as { filters?: { name: string; args: unknown[] }[] }[]
  return values.flatMap(({ filters }) => filters ?? [])
}

function literalOf(argument: unknown): string | null {
  const { kind, content } = argument as { kind?: TokenKind; content?: string }
  return kind === TokenKind.Quoted ? (content ?? null) : null
}

function formatFault(format: string): string | null {
  for (const [whole, , , letter = ''] of format.matchAll(CONVERSION)) {
    if (COMPOSED.has(letter) || NUMBERS.has(letter) || TEXTS.has(letter)) continue
    return `date has no conversion ${whole}; a percent sign is written %%`
  }
  return null
}

function zoneFault(zone: string): string | null {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone })
    return null
  } catch {
    return `there is no time zone ${zone}`
  }
}
