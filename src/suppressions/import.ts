import { hash } from 'node:crypto'
import type { Suppression } from '../model/suppression.ts'
import { createMintId } from '../platform/ids.ts'
import type { Random } from '../platform/random.ts'
import type { Store } from '../storage/store.ts'
import type { Entry, Reading } from './read-list.ts'

/** What came of a list. */
export interface Imported {
  added: number
  /** Suppressed already: what is there stays as it is. */
  alreadyThere: number
  passedOver: number
  bad: number
}

export interface ImportMeans {
  organizationId: string
  store: { suppressions: Pick<Store['suppressions'], 'addAll' | 'among'>; domains: Pick<Store['domains'], 'get'> }
  random: Random
  now: number
  /** Only counts. */
  isDryRun: boolean
  /** Hears of every record that is not taken. */
  tell: (number: number, message: string, isBad: boolean) => void
}

/** THE FLOW of an import: readings → suppressions, some hundred a transaction, in the order of the list. A crash leaves
 *  those that were written; the same list again adds the others and changes nothing else. `created_at` is the day it was
 *  suppressed elsewhere, and so lies in the list as it did there. */
export async function importReadings(readings: AsyncIterable<Reading[]>, means: ImportMeans): Promise<Imported> {
  const result: Imported = { added: 0, alreadyThere: 0, passedOver: 0, bad: 0 }
  const domains = new Map<string, boolean>()
  const seen = createSeen(means.isDryRun)
  let batch: Suppression[] = []

  const flush = async () => {
    if (batch.length === 0) return
    const added = means.isDryRun ? await wouldAdd(batch, seen, means) : await means.store.suppressions.addAll(batch)
    result.added += added
    result.alreadyThere += batch.length - added
    batch = []
  }

  for await (const some of readings) {
    for (const reading of some) {
      if ('entry' in reading) {
        if (await isOwnDomain(reading.entry.domainId, domains, means)) batch.push(suppressionOf(reading.entry, means))
        else {
          result.bad++
          means.tell(reading.number, 'domain_id names no domain of the organization', true)
        }
        if (batch.length >= BATCH) await flush()
      } else if ('fault' in reading) {
        result.bad++
        means.tell(reading.number, reading.fault, true)
      } else {
        result.passedOver++
        means.tell(reading.number, reading.passedOver, false)
      }
    }
  }
  await flush()
  return result
}

const BATCH = 500 // some milliseconds of the one writer

async function isOwnDomain(id: string | null, known: Map<string, boolean>, { store, organizationId }: ImportMeans) {
  if (id === null) return true
  const isOwn = known.get(id) ?? (await store.domains.get(id))?.organizationId === organizationId
  known.set(id, isOwn)
  return isOwn
}

/** The id says the same time as the record, since lists go by it. */
function suppressionOf({ email, reason, domainId, at, evidence }: Entry, means: ImportMeans): Suppression {
  const { organizationId, random, now } = means
  const createdAt = at === null || at < 0 || at > now ? now : at
  const id = createMintId({ now: () => createdAt, sleep: async () => {} }, random)('sup')
  return { id, organizationId, domainId, email, reason, messageId: null, createdAt, evidence }
}

/** What a dry run has come by, by 48 bits of a hash: a million fit, and a count is off by one in five hundred of them. */
function createSeen(isUsed: boolean) {
  const seen = new Set<number>()
  return {
    /** Whether it is the first time. */
    first(text: string): boolean {
      if (!isUsed) return true
      const size = seen.size
      seen.add(hash('sha256', text, 'buffer').readUIntBE(0, 6))
      return seen.size > size
    },
  }
}

async function wouldAdd(
  batch: Suppression[],
  seen: ReturnType<typeof createSeen>,
  means: ImportMeans,
): Promise<number> {
  const present = new Map<string, Set<string>>()
  const free = batch.filter(({ email, domainId }) => {
    const reach = domainId ?? ''
    if (!present.has(reach)) {
      const emails = batch.filter((each) => (each.domainId ?? '') === reach).map((each) => each.email)
      present.set(reach, means.store.suppressions.among(means.organizationId, reach, emails))
    }
    return !present.get(reach)!.has(email) && seen.first(`${reach} ${email}`)
  })
  return free.length
}
