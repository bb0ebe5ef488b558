import type { TlsCount } from '../../model/tls-session.ts'
import { type Database, run, sql } from '../sql.ts'

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

/** TLS sessions with recipient domains, counted for the reports that these request. */
export function tlsSessionRecords(database: Database) {
  return {
    /** Adds to the existing counts. */
    add: (counts: readonly TlsCount[]): Promise<void> =>
      database.write(function* () {
        for (const { domain, day, policy, host, address, source, failure, sessions } of counts)
          yield* run(ADD, domain, day, policy, host ?? '', address ?? '', source ?? '', failure ?? '', sessions)
      }),
    /** The first domain and day after the given ones, of days before `before`; null at the end. */
    next: (
      { day, domain }: { domain: string; day: number },
      before: number,
    ): Promise<{ domain: string; day: number } | null> => database.row(NEXT, day, domain, before),
    of: (domain: string, day: number): Promise<TlsCount[]> => database.rows(OF_DAY, day, domain),
    remove: (domain: string, day: number): Promise<void> => database.run(REMOVE, day, domain),
  }
}
