import type { KeptMtaSts } from '../../model/mta-sts.ts'

/** MTA-STS policies of recipient domains. They are stored, because a policy must stay in force after a restart. */
export interface MtaStsPolicies {
  get(domain: string): Promise<KeptMtaSts | null>
  /** Replaces the stored policy of the domain. */
  keep(policy: KeptMtaSts): Promise<void>
  remove(domain: string): Promise<void>
  /** Policies with a `refreshAt` up to `now`, longest due first. */
  due(now: number, limit: number): Promise<KeptMtaSts[]>
}
