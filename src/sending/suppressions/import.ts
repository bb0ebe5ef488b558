import { hash } from 'node:crypto'
import type { LimitReached } from '../../model/limits.ts'
import { type Mode, STREAM_NAME, unknownStream } from '../../model/message.ts'
import { reachOf, type Suppression } from '../../model/suppression.ts'
import { createMintId } from '../../os/ids.ts'
import type { Random } from '../../os/random.ts'
import type { Store } from '../../storage/store.ts'
import type { Entry, Reading } from './read-list.ts'

/** Result of an import. */
export interface Imported {
  added: number
  /** Already suppressed: the existing entry stays unchanged. */
  alreadyThere: number
  passedOver: number
  bad: number
  /** The plan limit that ended the import; earlier additions stay. */
  limit: LimitReached | null
}

export interface ImportMeans {
  organizationId: string
  /** Mode of the new suppressions; live by default. */
  mode?: Mode
  /** Applies to all entries, and records for other domains are refused; absent or null: as each record says. */
  domainId?: string | null
  /** Names of the configured streams: records for others are refused, except complaints. */
  streams: readonly string[]
  store: {
    suppressions: Pick<Store['suppressions'], 'addAll' | 'find'>
    domains: Pick<Store['domains'], 'get'>
  }
  random: Random
  now: number
  /** Counts only. */
  isDryRun: boolean
  /** Receives every record that is not imported. */
  onLine: (number: number, message: string, isBad: boolean) => void
}

/** Imports the readings of a list as suppressions, in the order of the list, some hundred in each transaction. After a
 *  crash the written ones stay; importing the same list again adds the rest and changes nothing else. `created_at` is the
 *  date of suppression elsewhere, so entries keep their order. */
export async function importReadings(readings: AsyncIterable<Reading[]>, means: ImportMeans): Promise<Imported> {
  const result: Imported = { added: 0, alreadyThere: 0, passedOver: 0, bad: 0, limit: null }
  const domains = new Map<string, boolean>()
  const seen = createSeen(means.isDryRun)
  let batch: Suppression[] = []

  const flush = async () => {
    if (batch.length === 0) return
    const { added, limit } = means.isDryRun
      ? { added: await wouldAdd(batch, seen, means), limit: null }
      : await means.store.suppressions.addAll(batch, means.now)
    result.added += added
    result.limit = limit
    if (limit === null) result.alreadyThere += batch.length - added
    batch = []
  }

  for await (const some of readings) {
    for (const reading of some) {
      if ('entry' in reading) {
        const { domainId } = reading.entry
        const fault = isOfKnownStream(reading.entry, means)
          ? await domainFault(domainId, domains, means)
          : unknownStream(means.streams)
        if (fault === null) batch.push(suppressionOf(reading.entry, means))
        else {
          result.bad++
          means.onLine(reading.number, fault, true)
        }
        if (batch.length >= BATCH) await flush()
        if (result.limit !== null) return result
      } else if ('fault' in reading) {
        result.bad++
        means.onLine(reading.number, reading.fault, true)
      } else {
        result.passedOver++
        means.onLine(reading.number, reading.passedOver, false)
      }
    }
  }
  await flush()
  return result
}

const BATCH = 500 // some milliseconds of the single writer

/** A complaint counts for other streams too, so one about a stream that the config no longer names must not be lost. */
function isOfKnownStream({ stream, reason }: Entry, { streams }: ImportMeans): boolean {
  return stream === null || streams.includes(stream) || (reason === 'complaint' && STREAM_NAME.test(stream))
}

async function domainFault(id: string | null, known: Map<string, boolean>, means: ImportMeans): Promise<string | null> {
  const { store, organizationId, domainId = null } = means
  if (id === null) return null
  const isOwn = known.get(id) ?? (await store.domains.get(id))?.organizationId === organizationId
  known.set(id, isOwn)
  if (!isOwn) return 'domain_id does not match any domain of this organization'
  return domainId === null || id === domainId ? null : 'domain_id is not the domain of this API key'
}

/** The id has the record's time, since lists are ordered by id. */
function suppressionOf({ email, reason, at, evidence, stream, ...entry }: Entry, means: ImportMeans): Suppression {
  const { organizationId, random, now, mode = 'live' } = means
  const domainId = entry.domainId ?? means.domainId ?? null
  const createdAt = at === null || at < 0 || at > now ? now : at
  const id = createMintId({ now: () => createdAt, sleep: async () => {} }, random)('sup')
  return { id, organizationId, domainId, stream, email, reason, messageId: null, createdAt, evidence, mode }
}

/** Addresses seen by a dry run, as 48-bit hashes: sized for a million, with a 1 in 500 chance that the count is off by
 *  one. */
function createSeen(isUsed: boolean) {
  const seen = new Set<number>()
  return {
    /** Whether this is the first occurrence. */
    first(text: string): boolean {
      if (!isUsed) return true
      const size = seen.size
      seen.add(hash('sha256', text, 'buffer').readUIntBE(0, 6))
      return seen.size > size
    },
  }
}

/** Number that would be new. Only those of the same mode count: a test key must not learn about live suppressions. */
async function wouldAdd(
  batch: readonly Suppression[],
  seen: ReturnType<typeof createSeen>,
  { store, organizationId }: ImportMeans,
): Promise<number> {
  const emails = [...new Set(batch.map(({ email }) => email))]
  const present = await Promise.all(emails.map((email) => store.suppressions.find(organizationId, email)))
  const reaches = new Set(present.flat().map(reachOf))
  return batch.filter((each) => !reaches.has(reachOf(each)) && seen.first(reachOf(each))).length
}
