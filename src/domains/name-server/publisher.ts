import type { Store } from '../../storage/store.ts'
import { allDomains } from '../all.ts'
import { serverRecords, type ZoneRecord, type ZoneSettings, zoneRecordsOf } from '../zone-records.ts'
import type { ToNameServer } from './worker.ts'

/** What a thread has: the fingerprint of each domain's records, and of the server's. */
export type Sent = Map<string, bigint | number>

/** Reads all domains and sends the thread what changed since `sent`, which it updates. Rejects with the store's error; what
 *  was sent until then is valid. The main thread serves requests between pages. */
export async function publish(
  store: Pick<Store, 'organizations' | 'domains'>,
  settings: ZoneSettings,
  sent: Sent,
  send: (message: ToNameServer) => void,
): Promise<void> {
  const changed: { id: string; records: ZoneRecord[] }[] = []
  const flush = () => {
    if (changed.length > 0) send({ kind: 'domains', domains: changed.splice(0) })
  }
  const own = serverRecords(settings)
  if (isNew(sent, OWN, own)) send({ kind: 'zone', name: settings.zone, records: own })
  const seen = new Set([OWN])
  for await (const domain of allDomains(store)) {
    seen.add(domain.id)
    const records = zoneRecordsOf(domain, settings)
    if (isNew(sent, domain.id, records)) changed.push({ id: domain.id, records })
    if (seen.size % PER_TURN !== 0) continue
    flush()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const id of [...sent.keys()].filter((id) => !seen.has(id))) {
    sent.delete(id)
    changed.push({ id, records: [] })
  }
  flush()
}

/** Key of the records of the zone itself. */
const OWN = ''
const PER_TURN = 50

function isNew(sent: Sent, id: string, records: readonly ZoneRecord[]): boolean {
  const print = Bun.hash(JSON.stringify(records))
  if (sent.get(id) === print) return false
  sent.set(id, print)
  return true
}
