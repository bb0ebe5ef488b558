import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import type { StartMessage } from '../../os/supervisor.ts'
import { serveThread } from '../../os/thread-entry.ts'
import { stackOf } from '../../os/thrown.ts'
import type { ZoneRecord } from '../zone-records.ts'
import { type Counts, createCounts } from './counts.ts'
import { createRateLimit } from './rate-limit.ts'
import { type Served, serveAddress } from './serve.ts'
import { createZone, type Zone } from './zone.ts'

export interface NameServerSettings {
  listen: readonly { host: string; port: number }[]
  responsesPerSecond: number
}

/** Main thread → name server thread, after the start. Until `loaded` it answers SERVFAIL. */
export type ToNameServer =
  | { kind: 'zone'; name: string; records: readonly ZoneRecord[] }
  | { kind: 'domains'; domains: readonly { id: string; records: readonly ZoneRecord[] }[] }
  | { kind: 'loaded' }

/** Name server thread → main thread. `failed`: it could not listen at the address with this index. */
export type FromNameServer =
  | { kind: 'ready' }
  | { kind: 'bound'; ports: number[] }
  | { kind: 'failed'; index: number; code: string; message: string }
  | { kind: 'counts'; counts: Counts }
  /** The records of the zone itself, or of a domain, were not taken over. */
  | { kind: 'not_put'; what: string; error: string }

/** The thread that answers DNS queries. It has neither the store nor a secret: the main thread sends the records, so a flood
 *  of queries reaches nothing else. */
function serveNames(post: (message: FromNameServer) => void): (message: unknown) => void {
  const counts = createCounts()
  let zone: Zone | null = null
  let isLoaded = false
  const present = () => (isLoaded ? zone : null)
  return (message) => {
    const received = message as ToNameServer | StartMessage
    switch (received.kind) {
      case 'start':
        void listen(received.settings as NameServerSettings, present, counts, post)
        return
      case 'zone': {
        const { name, records } = received
        return reported(post, name, () => {
          if (zone === null) zone = createZone(name, records)
          else zone.put('', records)
        })
      }
      case 'domains':
        for (const { id, records } of received.domains) reported(post, id, () => zone?.put(id, records))
        return
      case 'loaded':
        isLoaded = true
    }
  }
}

/** A bug with the records of one domain leaves it as it was. */
function reported(post: (message: FromNameServer) => void, what: string, put: () => void): void {
  try {
    put()
  } catch (error) {
    post({ kind: 'not_put', what, error: stackOf(error) })
  }
}

async function listen(
  settings: NameServerSettings,
  zone: () => Zone | null,
  counts: ReturnType<typeof createCounts>,
  post: (message: FromNameServer) => void,
): Promise<void> {
  const { now } = systemClock.steady
  const permit = createRateLimit({ perSecond: settings.responsesPerSecond, now, random: systemRandom })
  const served: Served[] = []
  for (const [index, at] of settings.listen.entries()) {
    try {
      served.push(await serveAddress({ ...at, zone, permit, count: counts, now }))
    } catch (error) {
      for (const each of served) each.stop()
      const { code, message } = error as { code?: unknown; message?: unknown }
      return post({ kind: 'failed', index, code: String(code ?? ''), message: String(message ?? error) })
    }
  }
  post({ kind: 'ready' })
  post({ kind: 'bound', ports: served.map(({ port }) => port) })
  setInterval(() => {
    const taken = counts.take()
    if (taken !== null) post({ kind: 'counts', counts: taken })
  }, COUNTS_MS)
}

const COUNTS_MS = 1_000

serveThread(serveNames)
