import type { KeptMtaSts } from '../../model/mta-sts.ts'
import { type Database, sql } from '../sql.ts'

type Row = Omit<KeptMtaSts, 'policy'> & { policy: string }

const COLUMNS = `domain, policy_id as "policyId", policy, expires_at as "expiresAt", refresh_at as "refreshAt",
  used_at as "usedAt"`
const GET = sql<Row>(`select ${COLUMNS} from mta_sts_policies where domain = $1`)
const KEEP = sql(`insert into mta_sts_policies (domain, policy_id, policy, expires_at, refresh_at, used_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (domain) do update set policy_id = excluded.policy_id, policy = excluded.policy,
    expires_at = excluded.expires_at, refresh_at = excluded.refresh_at, used_at = excluded.used_at`)
const REMOVE = sql('delete from mta_sts_policies where domain = $1')
const DUE = sql<Row>(`select ${COLUMNS} from mta_sts_policies where refresh_at <= $1 order by refresh_at limit $2`)

/** MTA-STS policies of recipient domains. They are stored, because a policy must stay in force after a restart. */
export function mtaStsRecords(database: Database) {
  return {
    get: async (domain: string): Promise<KeptMtaSts | null> => {
      const row = await database.row(GET, domain)
      return row === null ? null : toKept(row)
    },
    /** Replaces the stored policy of the domain. */
    keep: ({ domain, policyId, policy, expiresAt, refreshAt, usedAt }: KeptMtaSts): Promise<void> =>
      database.run(KEEP, domain, policyId, JSON.stringify(policy), expiresAt, refreshAt, usedAt),
    remove: (domain: string): Promise<void> => database.run(REMOVE, domain),
    /** Policies with a `refreshAt` up to `now`, longest due first. */
    due: async (now: number, limit: number): Promise<KeptMtaSts[]> =>
      (await database.rows(DUE, now, limit)).map(toKept),
  }
}

function toKept({ policy, ...rest }: Row): KeptMtaSts {
  return { ...rest, policy: JSON.parse(policy) }
}
