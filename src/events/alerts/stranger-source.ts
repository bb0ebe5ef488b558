import { senderOf } from '../../domains/known-senders.ts'
import type { SourceNames } from '../../domains/source-names.ts'
import type { Problem } from '../../model/alert.ts'
import { type DmarcSource, dayStart } from '../../model/policy-report.ts'
import { canonicalIp } from '../../net/ip.ts'
import type { Store } from '../../storage/store.ts'
import type { Source } from './sources.ts'

/** Unknown servers that send in the name of domains, from the DMARC reports of the last week. A pass over all domains with
 *  reports begins every hour and takes a few domains each time, because their sources are many. */
export function strangerSource(deps: {
  store: Pick<Store, 'policyReports' | 'domains'>
  sourceNames: Pick<SourceNames, 'namesOf'>
  leads: () => boolean
  /** Addresses of this installation, which are no strangers. */
  own: readonly string[]
}): Source {
  const { store, sourceNames, leads } = deps
  const own = new Set(deps.own.map((address) => canonicalIp(address) ?? address))
  let nextPassAt = 0
  let after = ''
  let found: Problem[] = []

  const problemOf = async (domainId: string, now: number): Promise<Problem[]> => {
    const to = dayStart(now)
    const { sources } = await store.policyReports.dmarc(domainId, { from: to - PERIOD_MS, to }, MOST_SOURCES)
    const large = sources.filter(
      (source) => source.sourceIp !== '' && !own.has(source.sourceIp) && failedOf(source) >= LEAST_FAILED,
    )
    const domain = large.length === 0 ? null : await store.domains.get(domainId)
    if (domain === null) return []
    const names = await sourceNames.namesOf(large.map(({ sourceIp }) => sourceIp))
    const strangers = large.filter(({ sourceIp }) => senderOf(names.get(sourceIp) ?? '') === null)
    return strangers.length === 0 ? [] : [strangerProblem(domain.name, strangers)]
  }
  return async (now) => {
    if (!leads() || now < nextPassAt) return []
    const domains = await store.policyReports.reportedDomains(dayStart(now) - PERIOD_MS, after, DOMAINS_A_LOOK)
    for (const id of domains) found.push(...(await problemOf(id, now)))
    const last = domains.at(-1)
    if (last !== undefined && domains.length === DOMAINS_A_LOOK) {
      after = last
      return []
    }
    const problems = found
    found = []
    after = ''
    nextPassAt = now + PASS_EVERY_MS
    return [{ at: now, node: '', problems, covers: ({ kind }) => kind === 'dmarc_stranger' }]
  }
}

function strangerProblem(domain: string, strangers: readonly DmarcSource[]): Problem {
  const shown = strangers.slice(0, MOST_SHOWN).map((source) => `${source.sourceIp} (${failedOf(source)})`)
  const more = strangers.length > shown.length ? ` and ${strangers.length - shown.length} more addresses` : ''
  return {
    kind: 'dmarc_stranger',
    subject: domain,
    severity: 'warning',
    message: `In the last 7 days, receivers reported unauthenticated messages in the name of ${domain} from ${shown.join(', ')}${more}`,
    advice: null,
  }
}

const failedOf = ({ messages, passed }: DmarcSource) => messages - passed

const DAY_MS = 86_400_000
const PERIOD_MS = 7 * DAY_MS
const PASS_EVERY_MS = 60 * 60_000
const DOMAINS_A_LOOK = 5
const MOST_SOURCES = 100
/** Messages of an address that failed DMARC: our choice, above the noise of forwarding and of spam to spam traps. */
const LEAST_FAILED = 100
const MOST_SHOWN = 5
