import type { KeptMtaSts } from '../../model/mta-sts.ts'
import type { MtaStsPolicies } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `domain, policy_id as "policyId", policy, expires_at::float8 as "expiresAt",
  refresh_at::float8 as "refreshAt", used_at::float8 as "usedAt"`
const GET = `select ${COLUMNS} from mta_sts_policies where domain = $1`
const KEEP = `insert into mta_sts_policies (domain, policy_id, policy, expires_at, refresh_at, used_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (domain) do update set policy_id = excluded.policy_id, policy = excluded.policy,
    expires_at = excluded.expires_at, refresh_at = excluded.refresh_at, used_at = excluded.used_at`
const REMOVE = 'delete from mta_sts_policies where domain = $1'
const DUE = `select ${COLUMNS} from mta_sts_policies where refresh_at <= $1 order by refresh_at limit $2`

export function postgresMtaSts(reads: Reads, writer: Writer): MtaStsPolicies {
  return {
    get: async (domain) => {
      const [row] = await reads.query<Row>(GET, [domain])
      return row === undefined ? null : toKept(row)
    },
    keep: ({ domain, policyId, policy, expiresAt, refreshAt, usedAt }) =>
      writer.write(async ({ run }) => {
        await run(KEEP, [domain, policyId, JSON.stringify(policy), expiresAt, refreshAt, usedAt])
      }),
    remove: (domain) =>
      writer.write(async ({ run }) => {
        await run(REMOVE, [domain])
      }),
    due: async (now, limit) => (await reads.query<Row>(DUE, [now, limit])).map(toKept),
  }
}

type Row = Omit<KeptMtaSts, 'policy'> & { policy: string }

function toKept({ policy, ...rest }: Row): KeptMtaSts {
  return { ...rest, policy: JSON.parse(policy) }
}
