import type { Alert, AlertKind, Problem } from '../../model/alert.ts'
import { type Canary, type CanaryResult, OWN_LISTENER } from '../../model/canary.ts'
import type { Store } from '../../storage/store.ts'
import type { Source } from './sources.ts'

/** Canary mails that do not arrive as they should. A problem begins when the last two mails to a mailbox were bad, with
 *  what the last one says, and ends when neither of the last two says so any more. `mailboxes`: names of the config, and
 *  OWN_LISTENER; empty if canaries are off. */
export function canarySource(deps: {
  store: Pick<Store, 'canaries'>
  leads: () => boolean
  mailboxes: readonly string[]
}): Source {
  const { store, leads, mailboxes } = deps
  return async (now, open) => {
    if (!leads()) return []
    const problems: Problem[] = []
    for (const mailbox of mailboxes) {
      problems.push(...problemsOf(mailbox, await store.canaries.latestEnded(mailbox, 2), open))
    }
    return [{ at: now, node: '', problems, covers: ({ kind }) => KINDS.includes(kind) }]
  }
}

/** The last two mails, the last one first → the problems. */
function problemsOf(mailbox: string, lastTwo: readonly Canary[], open: readonly Alert[]): Problem[] {
  const begins = lastTwo.length === 2 && lastTwo.every(({ result }) => RESULTS[result] !== undefined)
  return lastTwo.flatMap((canary, at) => {
    const kind = RESULTS[canary.result]?.kind
    if (kind === undefined || (at === 1 && lastTwo[0]?.result === canary.result)) return []
    const isOpen = open.some((alert) => alert.kind === kind && alert.subject === mailbox)
    return isOpen || (begins && at === 0) ? [problemOf(kind, canary)] : []
  })
}

function problemOf(kind: AlertKind, { mailbox, sentAt, result, arrivedAt, detail }: Canary): Problem {
  const where = mailbox === OWN_LISTENER ? 'this server itself' : `the mailbox ${mailbox}`
  const after = arrivedAt === null ? '' : `, after ${Math.round((arrivedAt - sentAt) / 1000)} s`
  const said = detail === null ? '' : `: ${detail}`
  return {
    kind,
    subject: mailbox,
    severity: kind === 'canary_missing' ? 'critical' : 'warning',
    message: `The last mail to ${where} ${RESULTS[result]?.words}${after}${said}`,
    advice: null,
  }
}

/** Bad results. */
const RESULTS: Readonly<Partial<Record<CanaryResult, { kind: AlertKind; words: string }>>> = {
  missing: { kind: 'canary_missing', words: 'did not arrive' },
  late: { kind: 'canary_late', words: 'arrived late' },
  spam: { kind: 'canary_spam', words: 'is in spam' },
  unauthenticated: { kind: 'canary_unauthenticated', words: 'is not authenticated' },
  unchecked: { kind: 'canary_unchecked', words: 'could not be looked for' },
}
const KINDS = Object.values(RESULTS).map(({ kind }) => kind)
