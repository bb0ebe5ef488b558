import { allDomains } from '../domains/all.ts'
import { zoneLabel } from '../domains/delegated-zone.ts'
import { type ZoneRecord, type ZoneSettings, zoneRecordsOf } from '../domains/zone-records.ts'
import type { Store } from '../storage/store.ts'
import { isMarkOf, markText, type PresentLabel, printOf } from './present-zone.ts'
import type { UpdateConnection } from './update-client.ts'

/** The zone as the operator's name server has it: by label of a domain. What is there is not remembered in the store, because
 *  the name server has it: also after a restore of either, and on another leader. */
export interface PresentZone {
  labels: Map<string, Omit<PresentLabel, 'label'>>
  /** Labels for which the server refused a change, because the zone is not as expected there. */
  foreign: Set<string>
}

export const presentZone = (labels: readonly PresentLabel[]): PresentZone => ({
  labels: new Map(labels.map(({ label, ...rest }) => [label, rest])),
  foreign: new Set(),
})

/** Writes what differs from `present`, which it updates: each domain in one update, which the name server applies only if the
 *  domain's label has our mark, or nobody uses its names. Removes the labels of domains that are gone, if this key marked
 *  them. `connect` is called at the first difference; without one nothing is sent. Labels in `foreign` are left as they
 *  are. Returns the number of changes. Rejects with the connection's or the store's error; `present` is then not to be used
 *  again. The main thread serves requests between pages. */
export async function writeZone(
  store: Pick<Store, 'organizations' | 'domains'>,
  settings: ZoneSettings,
  { connect, present, keyName }: { connect: () => UpdateConnection; present: PresentZone; keyName: string },
): Promise<number> {
  const { zone } = settings
  const { labels, foreign } = present
  let changed = 0
  const seen = new Set<string>()
  const update = async (label: string, change: Parameters<UpdateConnection['update']>[1]) => {
    const isMade = await connect().update(zone, change)
    if (isMade) changed++
    else foreign.add(label)
    return isMade
  }
  for await (const domain of allDomains(store)) {
    const label = zoneLabel(domain.id)
    seen.add(label)
    if (seen.size % PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    if (foreign.has(label)) continue
    const records = zoneRecordsOf(domain, settings)
    const print = printOf(records)
    const before = labels.get(label)
    if (before?.print === print) continue
    const names = [...new Set(records.map(({ name }) => name))]
    const mark = markRecord(label, zone, before?.mark ?? markText(domain.id, keyName))
    const change =
      before === undefined
        ? { conditions: { unused: [mark.name, ...names], present: [] }, clear: [], add: [mark, ...records] }
        : {
            conditions: { unused: [], present: [mark] },
            clear: [...new Set([...before.names, ...names])],
            add: records,
          }
    if (await update(label, change)) labels.set(label, { mark: mark.value, names, print })
  }
  for (const [label, { mark, names }] of labels) {
    if (seen.has(label) || foreign.has(label) || !isMarkOf(mark, keyName)) continue
    const own = markRecord(label, zone, mark)
    const change = { conditions: { unused: [], present: [own] }, clear: [...names, own.name], add: [] }
    if (await update(label, change)) labels.delete(label)
  }
  return changed
}

const markRecord = (label: string, zone: string, value: string): ZoneRecord => ({
  name: `${label}.${zone}`,
  type: 'TXT',
  ttlSeconds: 300,
  value,
  priority: null,
})

const PER_TURN = 50
