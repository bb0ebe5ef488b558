import { hash } from 'node:crypto'
import type { LimitReached } from '../model/limits.ts'
import type { Mode } from '../model/message.ts'
import type { Suppression } from '../model/suppression.ts'
import { createMintId } from '../os/ids.ts'
import type { Random } from '../os/random.ts'
import type { Store } from '../storage/store.ts'
import type { Entry, Reading } from './read-list.ts'

/** What came of a list. */
export interface Imported {
  added: number
  /** Suppressed already: what is there stays as it is. */
  alreadyThere: number
  passedOver: number
  bad: number
  /** The limit of the plan at which it ended; what was added before stays. */
  limit: LimitReached | null
}

export interface ImportMeans {
  organizationId: string
  /** Of the suppressions that are made; live unless said. */
  mode?: Mode
  /** All are for that domain, and records for others are not taken; absent or null = as each record says. */
  domainId?: string | null
  store: {
    suppressions: Pick<Store['suppressions'], 'addAll' | 'among' | 'find'>
    domains: Pick<Store['domains'], 'get'>
  }
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
  const result: Imported = { added: 0, alreadyThere: 0, passedOver: 0, bad: 0, limit: null }
  const domains = new Map<string, boolean>()
  const seen = createSeen(means.isDryRun)
  let batch: Suppression[] = []

  const flush = async () => {
    if (batch.length === 0) return
    const { added, limit } = means.isDryRun
      ? { added: await wouldAdd(batch, seen, means), limit: null }
      : await means.store.suppressions.addAll(batch)
    result.added += added
    result.limit = limit
    if (limit === null) result.alreadyThere += batch.length - added
    batch = []
  }

  for await (const some of readings) {
    for (const reading of some) {
      if ('entry' in reading) {
        const fault = await domainFault(reading.entry.domainId, domains, means)
        if (fault === null) batch.push(suppressionOf(reading.entry, means))
        else {
          result.bad++
          means.tell(reading.number, fault, true)
        }
        if (batch.length >= BATCH) await flush()
        if (result.limit !== null) return result
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

async function domainFault(id: string | null, known: Map<string, boolean>, means: ImportMeans): Promise<string | null> {
  const { store, organizationId, domainId = null } = means
  if (id === null) return null
  const isOwn = known.get(id) ?? (await store.domains.get(id))?.organizationId === organizationId
  known.set(id, isOwn)
  if (!isOwn) return 'domain_id does not match any domain of this organization'
  return domainId === null || id === domainId ? null : 'domain_id is not the domain of this API key'
}

/** The id says the same time as the record, since lists go by it. */
function suppressionOf({ email, reason, at, evidence, ...entry }: Entry, means: ImportMeans): Suppression {
  const { organizationId, random, now, mode = 'live' } = means
  const domainId = entry.domainId ?? means.domainId ?? null
  const createdAt = at === null || at < 0 || at > now ? now : at
  const id = createMintId({ now: () => createdAt, sleep: async () => {} }, random)('sup')
  return { id, organizationId, domainId, email, reason, messageId: null, createdAt, evidence, mode }
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
  if (means.mode === 'test') return wouldAddTests(batch, seen, means)
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

/** A test key learns nothing of live suppressions, not even by the count. */
async function wouldAddTests(
  batch: Suppression[],
  seen: ReturnType<typeof createSeen>,
  { store, organizationId }: ImportMeans,
): Promise<number> {
  let added = 0
  for (const { email, domainId } of batch) {
    const present = await store.suppressions.find(organizationId, email)
    const isThere = present.some((each) => each.mode === 'test' && each.domainId === domainId)
    if (!isThere && seen.first(`${domainId ?? ''} ${email}`)) added++
  }
  return added
}
