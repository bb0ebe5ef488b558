import { ALERT_KINDS, type Alert, MOST_ALERT_TEXT, MOST_OPEN_OF_KIND, type Problem } from '../../model/alert.ts'

/** What a source found at one time. */
export interface Look {
  at: number
  /** The node that looked; '' = for the installation. */
  node: string
  problems: readonly Problem[]
  /** Whether the look would have found the problem of this alert, so that it has ended if it is not in `problems`. */
  covers: (alert: Alert) => boolean
}

/** The next state of an alert. `was` null: a new one. `next` null: it is removed, and no channel got a notice. */
export interface Change {
  was: Alert | null
  next: Alert | null
}

/** Open alerts and a look → the changes, in order. An alert is raised when looks in a row found it for `raiseAfterMs` of
 *  its kind, and ends when looks in a row did not find it for `resolveAfterMs`. Of each kind, at most MOST_OPEN_OF_KIND
 *  are open. */
export function judge(open: readonly Alert[], look: Look, mintId: () => string): Change[] {
  const known = new Map(open.map((alert) => [keyOf(alert), alert]))
  const found = new Map(look.problems.map((problem) => [keyOf({ ...problem, node: look.node }), problem]))
  const counts = new Map<string, number>()
  for (const { kind } of open) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const changes: Change[] = []
  for (const [key, problem] of found) {
    const was = known.get(key) ?? null
    const count = counts.get(problem.kind) ?? 0
    if (was === null && count >= MOST_OPEN_OF_KIND) continue
    if (was === null) counts.set(problem.kind, count + 1)
    changes.push({ was, next: seen(was ?? newAlert(problem, look, mintId()), problem, look.at) })
  }
  for (const was of open) {
    if (was.node !== look.node || found.has(keyOf(was)) || !look.covers(was)) continue
    changes.push({ was, next: was.state === 'pending' ? null : missing(was, look.at) })
  }
  return changes
}

/** What makes an alert the same one at the next look. */
const keyOf = ({ kind, subject, node }: Pick<Alert, 'kind' | 'subject' | 'node'>): string =>
  JSON.stringify([kind, subject, node])

function newAlert({ kind, subject }: Problem, { at, node }: Look, id: string): Alert {
  return {
    id,
    kind,
    subject,
    node,
    severity: 'warning',
    message: '',
    advice: null,
    state: 'pending',
    firstSeenAt: at,
    lastSeenAt: at,
    missingSince: null,
    raisedAt: null,
    resolvedAt: null,
  }
}

function seen(alert: Alert, { severity, message, advice }: Problem, at: number): Alert {
  const next = { ...alert, severity, message: short(message), advice: advice && short(advice), missingSince: null }
  const isDue = at - alert.firstSeenAt >= ALERT_KINDS[alert.kind].raiseAfterMs
  if (alert.state === 'firing' || !isDue) return { ...next, lastSeenAt: at }
  return { ...next, lastSeenAt: at, state: 'firing', raisedAt: at }
}

function missing(alert: Alert, at: number): Alert {
  const missingSince = alert.missingSince ?? at
  if (at - missingSince < ALERT_KINDS[alert.kind].resolveAfterMs) return { ...alert, missingSince }
  return { ...alert, missingSince, state: 'resolved', resolvedAt: at }
}

/** Without control characters other than line breaks, and not too long. */
function short(text: string): string {
  const clean = text
    .slice(0, MOST_ALERT_TEXT + 1)
    .replaceAll(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ')
  return clean.length > MOST_ALERT_TEXT ? `${clean.slice(0, MOST_ALERT_TEXT - 1).toWellFormed()}…` : clean
}
