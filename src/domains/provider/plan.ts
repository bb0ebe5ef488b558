import type { DnsRecord } from '../../model/domain.ts'
import { sameHost } from '../spf.ts'
import type { HostRecord } from '../zone-file.ts'
import type { ProviderRecord } from './lexicon.ts'
import { planTxt } from './plan-txt.ts'
import type { DnsProvider } from './providers.ts'
import { foundIn, type Make, NO_ANSWER, type PlanOptions, type Step, stepOf, type Wanted } from './step.ts'

/** Records to publish and DNS → the steps, in the same order. It changes and removes only what Postrider owns by name and
 *  purpose: the DKIM keys of its selectors, SPF of the return path, the MTA-STS id, a DMARC record's report address, and
 *  with `mx` the MX records of the domain. Everything else that is in the way is a conflict. Without an answer of DNS, a
 *  step is a conflict too. */
export async function planSteps(
  records: readonly Wanted[],
  hosts: readonly HostRecord[],
  options: PlanOptions,
): Promise<Step[]> {
  const ofHosts = hosts.map(({ type, name, value }) => planHost({ type, name, value, priority: null }, options))
  const steps = await Promise.all([...records.map((record) => planRecord(record, options)), ...ofHosts])
  return steps.map(withPlainValues)
}

/** Records of DNS come from outside: what is to be written or removed must be printable ASCII, as all our own are. */
function withPlainValues(step: Step): Step {
  const isPlain = [step.record.value, ...step.removed].every((value) => /^[ -~]{1,4000}$/.test(value))
  const isChange = step.action === 'create' || step.action === 'change'
  if (isPlain || !isChange) return step
  return { ...step, action: 'conflict', removed: [], note: 'the present record has special characters' }
}

/** Needed only where this server receives the domain's mail. */
const RECEIVING = new Set<DnsRecord['purpose']>(['mx', 'mta_sts', 'mta_sts_host', 'tls_rpt'])

async function planRecord(wanted: Wanted, { mx, resolver }: PlanOptions): Promise<Step> {
  const { type, name, value, priority, purpose } = wanted
  const step = stepOf({ type, name, value, priority }, purpose)
  if (RECEIVING.has(purpose) && !mx) return step('keep', [], 'only with --mx')
  if (wanted.status === 'valid' && !(purpose === 'dmarc' && type === 'TXT')) {
    return type === 'MX' ? planMx(wanted, resolver, step) : step('keep')
  }
  const alias = await resolver.cname(name)
  if (alias.kind === 'temporary') return step('conflict', [], NO_ANSWER)
  if (alias.kind === 'records') {
    const isOurs = type === 'CNAME' && alias.records.some((host) => sameHost(host, value))
    return isOurs ? step('keep') : step('conflict', [], `the name has a CNAME record to ${alias.records[0]}`)
  }
  if (type === 'TXT') return planTxt(wanted, resolver, step)
  if (type === 'MX') return planMx(wanted, resolver, step)
  const others = await Promise.all([resolver.txt(name), resolver.mx(name), resolver.a(name), resolver.aaaa(name)])
  if (others.some(({ kind }) => kind === 'temporary')) return step('conflict', [], NO_ANSWER)
  const isFree = others.every(({ kind }) => kind !== 'records')
  return isFree ? step('create') : step('conflict', [], 'the name has other records, and none can be beside a CNAME')
}

async function planMx(wanted: Wanted, resolver: PlanOptions['resolver'], step: Make): Promise<Step> {
  const lookup = await resolver.mx(wanted.name)
  if (lookup.kind === 'temporary') return step('conflict', [], NO_ANSWER)
  const found = lookup.kind === 'records' ? lookup.records : []
  const foreign = found.filter(({ exchange }) => !sameHost(exchange, wanted.value))
  const others = foreign.map(({ preference, exchange }) => `${preference} ${exchange}`)
  // A backup server may be meant: removing it is the user's decision.
  const toRemove = others.length === 0 ? '' : `mail may go elsewhere: remove MX ${others.join(', ')}`
  if (found.length > others.length) return step('keep', [], toRemove)
  if (others.length === 0) return step('create')
  if (wanted.purpose === 'mx') return step('change', others, 'the mail of the domain moves to this server')
  return step('conflict', [], `other MX records: ${others.join(', ')}`)
}

/** Address records of the server's name are never changed: other programs may use them. */
async function planHost(record: ProviderRecord, { resolver }: PlanOptions): Promise<Step> {
  const step = stepOf(record, 'host')
  const lookup = record.type === 'AAAA' ? await resolver.aaaa(record.name) : await resolver.a(record.name)
  if (lookup.kind === 'temporary') return step('conflict', [], NO_ANSWER)
  const found = foundIn(lookup)
  if (found.includes(record.value)) return step('keep')
  return found.length === 0 ? step('create') : step('conflict', [], `the name has ${found.join(', ')}`)
}

/** The steps with a conflict for each that lexicon would do wrongly at this provider. */
export function possibleAt(
  { hasForeignTargets }: Pick<DnsProvider, 'hasForeignTargets'>,
  zone: string,
  steps: Step[],
): Step[] {
  if (hasForeignTargets) return steps
  return steps.map((step) => {
    const { type, value } = step.record
    const isInside = value === zone || value.endsWith(`.${zone}`)
    if (type !== 'CNAME' || isInside || step.action !== 'create') return step
    return { ...step, action: 'conflict', note: 'lexicon cannot create a CNAME to another zone here: add it by hand' }
  })
}

/** The step without the extension of a DMARC record, which nobody agreed to. */
export const keptDmarc = (step: Step): Step =>
  step.purpose === 'dmarc' && step.action === 'change'
    ? { ...step, action: 'keep', removed: [], note: 'the record stays; it has no report address of this server' }
    : step

/** Whether DNS shows the record of a step that was applied, and none of the removed values. */
export async function isVisible({ record, removed }: Step, resolver: PlanOptions['resolver']): Promise<boolean> {
  const { type, name, value } = record
  if (type === 'MX') {
    const lookup = await resolver.mx(name)
    const found = lookup.kind === 'records' ? lookup.records : []
    const isOld = found.some(({ preference, exchange }) => removed.includes(`${preference} ${exchange}`))
    return !isOld && found.some(({ exchange }) => sameHost(exchange, value))
  }
  const lookups = { TXT: resolver.txt, CNAME: resolver.cname, A: resolver.a, AAAA: resolver.aaaa }
  const found = foundIn(await lookups[type](name))
  const isThere = type === 'CNAME' ? found.some((host) => sameHost(host, value)) : found.includes(value)
  return isThere && !found.some((text) => removed.includes(text))
}
