import { FIXED_LIMITS } from './limits.ts'

/** How much the reports of a reporter count, by the domain that authenticated the mail.
 *
 *  - `large`: a large receiver, whose address for reports nobody else can use.
 *  - `known`: plausible reports of it about this domain came on 7 of the last 31 days.
 *  - `unknown`: everybody else. Anyone can register a domain and report whatever they want, so that these reports are
 *    shown apart, and neither use up the limits of others nor count in statistics, advice and alerts. */
export type Standing = 'large' | 'known' | 'unknown'

/** Domains from whose addresses large receivers send reports. Their customers have no mailboxes there. From published reports;
 *  November 2026. */
export const LARGE_REPORTERS: readonly string[] = [
  'alerts.comcast.net',
  'amazonses.com',
  'corp.mail.ru',
  'dmarc.yahoo.com',
  'fastmaildmarc.com',
  'google.com',
  'microsoft.com',
  'mimecastreport.com',
  'sicher.gmx.net',
  'sicher.web.de',
]

/** Domain of an author, lower case → the domain of the large receiver that it is or is below; null if there is none. */
export function largeReporterOf(domain: string): string | null {
  return LARGE_REPORTERS.find((each) => domain === each || domain.endsWith(`.${each}`)) ?? null
}

/** Days with plausible reports after which a reporter is known, and the time before today in which they count. */
const KNOWN_DAYS = 7
export const HISTORY_MS = 31 * 86_400_000

/** Reporter and the number of days with plausible reports of it about a domain → its standing there. */
export function standingOf(reporter: string, days: number): Standing {
  if (LARGE_REPORTERS.includes(reporter)) return 'large'
  return days >= KNOWN_DAYS ? 'known' : 'unknown'
}

/** Reports, and the messages in them, that a reporter has sent about a domain in a UTC day. */
export interface ReportsOfDay {
  reporter: string
  reports: number
  messages: number
}

/** Standing of a reporter and the reports of the day about the domain → the messages of its that still count that day; null
 *  if it has no further report. Reporters that are not large share a number of reports, of which unknown ones get the first
 *  part only, and each has its own. */
export function messagesLeft(reporter: string, standing: Standing, today: readonly ReportsOfDay[]): number | null {
  const { reports, messages } = today.find((each) => each.reporter === reporter) ?? { reports: 0, messages: 0 }
  const { own, all, counted } = REPORT_LIMITS[standing]
  if (reports >= own) return null
  const others = today.filter((each) => !LARGE_REPORTERS.includes(each.reporter))
  if (others.reduce((sum, each) => sum + each.reports, 0) >= all) return null
  return Math.max(0, counted - messages)
}

const { reportsOfReporter, reportsOfUnknownReporter, reportsPerDay, reportsOfUnknownPerDay } = FIXED_LIMITS
const { reportedMessages, reportedMessagesOfLarge } = FIXED_LIMITS

const REPORT_LIMITS: Record<Standing, { own: number; all: number; counted: number }> = {
  large: { own: reportsOfReporter, all: Number.POSITIVE_INFINITY, counted: reportedMessagesOfLarge },
  known: { own: reportsOfReporter, all: reportsPerDay, counted: reportedMessages },
  unknown: { own: reportsOfUnknownReporter, all: reportsOfUnknownPerDay, counted: reportedMessages },
}
