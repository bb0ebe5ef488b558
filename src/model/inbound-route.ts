/** What happens to mail from the world, by recipient (contract §5). */
export interface InboundRoute {
  id: string
  organizationId: string
  name: string
  match: RouteMatch
  action: RouteAction
  /** What mail must prove: nothing, only what the author's own DMARC policy demands, or a DMARC pass. */
  authentication: RouteAuthentication
  enabled: boolean
  /** Highest first. */
  priority: number
  createdAt: number
}

export type RouteMatch =
  /** `a@d`, local part folded. */
  | { type: 'address'; value: string }
  /** `local-pattern@d`; `*` stands for any run of characters, `?` for one. */
  | { type: 'pattern'; value: string }
  | { type: 'domain'; value: string }
  /** Every address of every domain of the organization. */
  | { type: 'catch_all'; value: null }

export type RouteAction =
  | { type: 'webhook'; config: { url: string; includeAttachments: boolean } }
  | { type: 'forward'; config: { to: string[] } }
  | { type: 'store'; config: Record<string, never> }

/** `none`: everything comes in, verdicts are only told. `dmarc`: a failure under `p=reject` is refused at DATA.
 *  `require_pass`: whatever is no DMARC pass is refused. */
export const ROUTE_AUTHENTICATIONS = ['none', 'dmarc', 'require_pass'] as const
export type RouteAuthentication = (typeof ROUTE_AUTHENTICATIONS)[number]
