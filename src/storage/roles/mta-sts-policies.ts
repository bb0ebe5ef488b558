import type { KeptMtaSts } from '../../model/mta-sts.ts'

/** MTA-STS policies of recipients' domains; they hold over a restart, for that is their worth. */
export interface MtaStsPolicies {
  get(domain: string): Promise<KeptMtaSts | null>
  /** In place of what was kept of the domain. */
  keep(policy: KeptMtaSts): Promise<void>
  remove(domain: string): Promise<void>
  /** Those whose `refreshAt` has come, longest due first. */
  due(now: number, limit: number): Promise<KeptMtaSts[]>
}
