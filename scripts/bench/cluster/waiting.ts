import { ANY, NONE } from '../../../test/support/claim.ts'
import type { TestPostgres } from '../../../test/support/postgres.ts'
import { type Figure, median } from '../figures.ts'
import type { Part } from '../part.ts'
import { createDatabase, openNode, withDatabase } from './stores.ts'

const WAITING = 1_000_000
const DESTINATIONS = 1_000
const CLAIM = 100
const ROUNDS = 101
/** Claims before those that count: a server with such a queue has run for a while. */
const WARM_UP = 200
const NOW = Date.UTC(2026, 10, 23)
const DEAD = 'dead.example'

/** Claims of 100 deliveries while a million wait: a quarter is due for one destination without capacity, a quarter for a
 *  thousand others, and half later. */
export const waiting: Part = {
  name: 'cluster.waiting',
  beside: ({ scratch, note }) =>
    withDatabase(async (postgres) => {
      const url = await createDatabase(postgres)
      await (await openNode(url, scratch)).close()
      fill(postgres, url)
      const leasedMs: number[] = []
      const claimedMs: number[] = []
      let leaseMs = 0
      const store = await openNode(url, scratch, {
        wroteGroup: (_, ms) => {
          leaseMs = ms
        },
        tookOver: () => {},
      })
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        const request = { now: NOW, limit: CLAIM }
        const look: typeof ANY = (key, dueAt) => (key === DEAD ? NONE : ANY)(key, dueAt)
        const plan = await store.deliveries.planClaims({ ...request, look })
        const startedAt = performance.now()
        const claims = await store.deliveries.claimDue({ ...request, worker: 'bench', plan })
        if (round >= 0) {
          leasedMs.push(leaseMs)
          claimedMs.push(performance.now() - startedAt)
        }
        if (claims.length !== CLAIM) throw new Error(`claimed ${claims.length}`)
      }
      note(null, LEASED, median(leasedMs))
      note(null, CLAIMED, median(claimedMs))
      await store.close()
    }),
}

/** Writes the waiting mail into the tables. */
function fill(postgres: TestPostgres, url: string): void {
  const database = url.slice(url.lastIndexOf('/') + 1)
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`
  const key = `case when n % 4 = 0 then '${DEAD}' else 'd' || n % ${DESTINATIONS} || '.example' end`
  const due = `${NOW} + case when n % 2 = 1 then 3600000 + n else n / 4 - ${WAITING} end`
  const series = `from generate_series(1, ${WAITING}) n`
  for (const statement of [
    `insert into messages (number, id, organization_id, domain_id, mode, source, status, sender, sender_address, recipients,
        subject, tags, metadata, size_bytes, message_id_header, created_at, require_tls, unsubscribe, track_opens,
        track_clicks, stored_bytes, stream)
      select n, ${id('msg')}, 'org_1', 'dom_1', 'live', 'api', 'queued', 'us@bench.example', 'us@bench.example',
        '[["ann@d.example"],null,null,null]', 'A receipt', '[]', '{}', 1000, '<' || n || '@bench.example>', ${NOW}, false,
        false, false, false, 1000, 'transactional' ${series}`,
    `insert into message_contents select n, convert_to(repeat(md5(n::text), 30), 'utf8') ${series}`,
    `insert into deliveries (number, id, message_number, position, email, address, type, queue, status, attempts,
        next_attempt_at)
      select n, ${id('dlv')}, n, 0, 'ann@d.example', 'ann@d.example', 'to', ${key}, 'queued', 0, ${due} ${series}`,
    `select setval('numbers', ${WAITING})`,
    'analyze',
  ]) {
    postgres.psql(statement, database)
  }
}

const LEASED: Figure = {
  what: 'claim of 100 with 1,000,000 waiting, committed, median',
  unit: 'ms',
  goal: { atMost: 5 },
}
const CLAIMED: Figure = { what: 'the same until their mail is read', unit: 'ms' }
