import { isSpf, mergedSpf } from '../../mail/spf-record.ts'
import { showsKey, tagsOf } from '../dkim-record.ts'
import { registrableDomain } from '../name.ts'
import { foundIn, type Make, NO_ANSWER, type PlanOptions, recordOf, type Step, type Wanted } from './step.ts'

/** A TXT record to publish → its step. Texts of another purpose at the name stay. */
export async function planTxt(wanted: Wanted, resolver: PlanOptions['resolver'], step: Make): Promise<Step> {
  const lookup = await resolver.txt(wanted.name)
  if (lookup.kind === 'temporary') return step('conflict', [], NO_ANSWER)
  const found = foundIn(lookup)
  const { value, purpose } = wanted
  const isThere = found.some((text) => text.trim() === value)
  /** Ours in place of all that have the purpose: two of them would be an error. */
  const instead = (present: string[], note: string) => {
    const others = present.filter((text) => text.trim() !== value)
    if (others.length === 0) return step(isThere ? 'keep' : 'create')
    return step('change', others, note)
  }
  switch (purpose) {
    case 'dkim':
    case 'dkim_standby': {
      const keys = found.filter((text) => tagsOf(text).has('p'))
      return showsKey(keys, value) ? step('keep') : instead(keys, 'another key of this selector')
    }
    case 'spf': {
      const present = found.filter(isSpf)
      if (present.length === 0) return step('create')
      const merged = mergedSpf(present, ...value.split(' ').slice(1, -1))
      const removed = present.filter((text) => text !== merged)
      if (removed.length === 0) return step('keep')
      return { ...step('change', removed, 'adds this server'), record: recordOf(wanted, merged) }
    }
    case 'dmarc':
      return planDmarc(wanted, found, resolver, step)
    case 'mta_sts':
      return instead(
        found.filter((text) => /^v=STSv1\s*;/.test(text)),
        'the policy changed',
      )
    case 'tls_rpt': {
      const isOther = !isThere && found.some((text) => /^v=TLSRPTv1\s*;/.test(text))
      return isOther ? step('conflict', [], 'another TLS-RPT record') : step(isThere ? 'keep' : 'create')
    }
    default:
      return step(isThere ? 'keep' : 'create')
  }
}

/** An own record replaces the policy of the parent domain, so it is created only when DNS has shown that one. */
async function planDmarc(
  { name, value, status }: Wanted,
  found: readonly string[],
  resolver: PlanOptions['resolver'],
  step: Make,
): Promise<Step> {
  const [only, ...more] = found.filter((text) => /^v=DMARC1\s*(?:;|$)/i.test(text))
  if (more.length > 0) return step('conflict', [], 'several DMARC records: keep only one')
  if (only !== undefined) {
    return addsAddress(only, value) && only.trim() !== value
      ? step('change', [only], 'adds the report address')
      : step('keep')
  }
  if (status === 'valid') return step('keep', [], 'the record of the parent domain')
  const parent = await resolver.txt(`_dmarc.${registrableDomain(name.slice('_dmarc.'.length))}`)
  return parent.kind === 'temporary' ? step('conflict', [], NO_ANSWER) : step('create')
}

/** Whether a DMARC record differs from another one only by further report addresses. */
function addsAddress(before: string, after: string): boolean {
  const [old, now] = [tagsOf(before), tagsOf(after)]
  const others = [...old].filter(([tag]) => tag !== 'rua')
  return (
    others.every(([tag, value]) => now.get(tag) === value) && (now.get('rua') ?? '').startsWith(old.get('rua') ?? '')
  )
}
