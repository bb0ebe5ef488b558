import { allDomains } from '../domains/all.ts'
import { zoneLabel } from '../domains/delegated-zone.ts'
import { type ZoneRecord, type ZoneSettings, zoneRecordsOf } from '../domains/zone-records.ts'
import type { Store } from '../storage/store.ts'
import type { UpdateConnection } from './update-client.ts'

/** What the operator's name server has below the label of one domain. */
interface Present {
  /** Our mark of the label; null if there is none, so that the names are not ours. */
  mark: ZoneRecord | null
  names: string[]
  /** The records as sorted text. */
  text: string
}

/** The zone as the operator's name server has it: by label of a domain. */
export type PresentZone = Map<string, Present>

export interface Written {
  changed: number
  /** Names that somebody else made, which are left as they are. */
  foreign: string[]
}

/** Reads the zone by a transfer. What is there is not remembered in the store, because the name server knows it better: also
 *  after a restore of either, and on another leader. */
export async function readPresentZone(connection: UpdateConnection, zone: string): Promise<PresentZone> {
  const byLabel = new Map<string, ZoneRecord[]>()
  for (const record of await connection.transfer(zone)) {
    const label = labelOf(record.name, zone)
    if (label === null) continue
    const list = byLabel.get(label) ?? []
    list.push(record)
    byLabel.set(label, list)
  }
  return new Map([...byLabel].map(([label, records]) => [label, presentOf(label, zone, records)]))
}

/** Writes what differs from `present`, which it updates: each domain in one update, which the name server applies only if the
 *  domain's label has our mark, or nobody uses its names. Removes the labels of domains that are gone, if this key marked
 *  them. Rejects with the connection's or the store's error; `present` is then not to be used again. */
export async function writeZone(
  store: Pick<Store, 'organizations' | 'domains'>,
  settings: ZoneSettings,
  { connection, present, keyName }: { connection: UpdateConnection; present: PresentZone; keyName: string },
): Promise<Written> {
  const { zone } = settings
  const written: Written = { changed: 0, foreign: [] }
  const seen = new Set<string>()
  for await (const domain of allDomains(store)) {
    const label = zoneLabel(domain.id)
    seen.add(label)
    const records = zoneRecordsOf(domain, settings)
    const before = present.get(label)
    const mark = before?.mark ?? markOf(label, zone, keyName, domain.id)
    if (before?.mark !== undefined && before.mark !== null && before.text === textOf(records)) continue
    const names = [...new Set(records.map(({ name }) => name))]
    const isMade = await connection.update(zone, {
      conditions: before?.mark
        ? { unused: [], present: [before.mark] }
        : { unused: [mark.name, ...names], present: [] },
      clear: before?.mark ? [...new Set([...before.names, ...names])] : [],
      add: before?.mark ? records : [mark, ...records],
    })
    if (!isMade) {
      written.foreign.push(mark.name)
      continue
    }
    written.changed++
    present.set(label, { mark, names, text: textOf(records) })
  }
  for (const [label, { mark, names }] of present) {
    if (seen.has(label) || mark === null || !mark.value.endsWith(markEnd(keyName))) continue
    const conditions = { unused: [], present: [mark] }
    if (await connection.update(zone, { conditions, clear: [...names, mark.name], add: [] })) written.changed++
    present.delete(label)
  }
  return written
}

/** Name → the label of a domain that it is at or below; null for other names of the zone. */
function labelOf(name: string, zone: string): string | null {
  if (!name.endsWith(`.${zone}`)) return null
  const label =
    name
      .slice(0, -zone.length - 1)
      .split('.')
      .at(-1) ?? ''
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(label) ? label : null
}

function presentOf(label: string, zone: string, records: readonly ZoneRecord[]): Present {
  const own = `${label}.${zone}`
  const mark = records.find(({ name, type, value }) => name === own && type === 'TXT' && value.startsWith(MARK)) ?? null
  const below = records.filter(({ name }) => name !== own)
  return { mark, names: [...new Set(below.map(({ name }) => name))], text: textOf(below) }
}

const textOf = (records: readonly ZoneRecord[]) =>
  records
    .map(({ name, type, ttlSeconds, value, priority }) => `${name} ${type} ${ttlSeconds} ${priority ?? 0} ${value}`)
    .sort()
    .join('\n')

/** Says that the label is ours. The ID of the domain is in it, so that no other installation has the same. */
function markOf(label: string, zone: string, keyName: string, domainId: string): ZoneRecord {
  const value = `${MARK}${domainId}${markEnd(keyName)}`
  return { name: `${label}.${zone}`, type: 'TXT', ttlSeconds: 300, value, priority: null }
}

const MARK = 'postrider='
const markEnd = (keyName: string) => ` key=${keyName}`
