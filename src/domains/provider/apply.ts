import type { ProviderRecord, ProviderZone } from './lexicon.ts'
import { LexiconFault, plainValue } from './lexicon.ts'
import type { Step } from './step.ts'

/** A step that was tried: null as fault if the provider has the record now. */
export interface Applied {
  step: Step
  fault: string | null
}

/** Creates and changes records, one after the other. It asks the provider before each and after each change, because DNS
 *  may still show older records, and some providers report success for what they refuse. Old values go only when the
 *  provider has the new one, so that a failure loses nothing. A second run finds everything in place. A step that fails
 *  does not keep the others from being tried. */
export async function applySteps(
  steps: readonly Step[],
  zone: ProviderZone,
  onApplied: (applied: Applied) => void = () => {},
): Promise<Applied[]> {
  const applied: Applied[] = []
  for (const step of steps) {
    if (step.action !== 'create' && step.action !== 'change') continue
    const done = { step, fault: await faultOf(step, zone) }
    applied.push(done)
    onApplied(done)
  }
  return applied
}

async function faultOf({ record, removed }: Step, zone: ProviderZone): Promise<string | null> {
  const { name, type } = record
  try {
    let present = await zone.list(name, type)
    if (!present.includes(wantedValue(record))) {
      await zone.create(record)
      present = await zone.list(name, type)
    }
    if (!present.includes(wantedValue(record))) return 'the provider does not have the record after the change'
    // What DNS showed may have changed since: only what is still there goes.
    const old = removed.map((value) => asRecord(record, value)).filter((each) => present.includes(wantedValue(each)))
    if (old.length === 0) return null
    for (const each of old) await zone.remove(each)
    const after = await zone.list(name, type)
    if (!after.includes(wantedValue(record))) return 'the provider does not have the record after the change'
    return old.some((each) => after.includes(wantedValue(each))) ? 'the provider still has the old record' : null
  } catch (thrown) {
    if (!(thrown instanceof LexiconFault)) throw thrown
    return thrown.message
  }
}

const wantedValue = ({ type, value }: ProviderRecord) => (type === 'TXT' ? value : plainValue(value, type))

/** `10 mx.example.net` of an MX record → priority and host. */
function asRecord(like: ProviderRecord, value: string): ProviderRecord {
  if (like.type !== 'MX') return { ...like, value }
  const [priority = '', host = ''] = value.split(' ')
  return { ...like, value: host.replace(/\.$/, ''), priority: Number(priority) }
}
