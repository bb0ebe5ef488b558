import type { TlsCount } from '../../model/tls-session.ts'
import { type Database, run, sql } from '../sql.ts'
import type { TlsSessions } from '../store.ts'

// A primary key cannot contain null, so null is stored as an empty text.
const ADD = sql(`insert into tls_sessions as present (domain, day, policy, host, address, source, failure, sessions)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (day, domain, policy, host, address, source, failure)
    do update set sessions = present.sessions + excluded.sessions`)
const NEXT = sql<{ domain: string; day: number }>(`select domain, day from tls_sessions
  where (day, domain) > ($1::bigint, $2::text) and day < $3 order by day, domain limit 1`)
const OF_DAY = sql<TlsCount>(`select domain, day, policy, nullif(host, '') as host, nullif(address, '') as address,
    nullif(source, '') as source, nullif(failure, '') as failure, sessions
  from tls_sessions where day = $1 and domain = $2`)
const REMOVE = sql('delete from tls_sessions where day = $1 and domain = $2')

export function tlsSessionRecords(database: Database): TlsSessions {
  return {
    add: (counts) =>
      database.write(function* () {
        for (const { domain, day, policy, host, address, source, failure, sessions } of counts)
          yield* run(ADD, domain, day, policy, host ?? '', address ?? '', source ?? '', failure ?? '', sessions)
      }),
    next: ({ day, domain }, before) => database.row(NEXT, day, domain, before),
    of: (domain, day) => database.rows(OF_DAY, day, domain),
    remove: (domain, day) => database.run(REMOVE, day, domain),
  }
}
