import type { TlsCount } from '../../model/tls-session.ts'
import type { TlsSessions } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

// A primary key cannot contain null, so null is stored as an empty text.
const ADD = `insert into tls_sessions as present (domain, day, policy, host, address, source, failure, sessions)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (day, domain, policy, host, address, source, failure)
    do update set sessions = present.sessions + excluded.sessions`
const NEXT = `select domain, day::float8 as day from tls_sessions
  where (day, domain) > ($1::bigint, $2::text) and day < $3 order by day, domain limit 1`
const OF_DAY = `select domain, day::float8 as day, policy, nullif(host, '') as host, nullif(address, '') as address,
    nullif(source, '') as source, nullif(failure, '') as failure, sessions::float8 as sessions
  from tls_sessions where day = $1 and domain = $2`
const REMOVE = 'delete from tls_sessions where day = $1 and domain = $2'

export function postgresTlsSessions(reads: Reads, writer: Writer): TlsSessions {
  return {
    add: (counts) =>
      writer.write(async ({ run }) => {
        for (const { domain, day, policy, host, address, source, failure, sessions } of counts) {
          await run(ADD, [domain, day, policy, host ?? '', address ?? '', source ?? '', failure ?? '', sessions])
        }
      }),
    next: async ({ day, domain }, before) => {
      const [row] = await reads.query<{ domain: string; day: number }>(NEXT, [day, domain, before])
      return row ?? null
    },
    of: (domain, day) => reads.query<TlsCount>(OF_DAY, [day, domain]),
    remove: (domain, day) =>
      writer.write(async ({ run }) => {
        await run(REMOVE, [day, domain])
      }),
  }
}
