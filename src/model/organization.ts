/** Owner of domains, keys, webhooks, messages and suppressions; created by the operator. */
export interface Organization {
  id: string
  name: string
  plan: string
  createdAt: number
}

/** Organization ID of the mail that the installation sends to its own users. No organization has it, so that no key, user,
 *  webhook or stream can reach that mail, its events, or the suppressions that come from it. */
export const INSTALLATION = 'org_00000000000000000000000000'

/** Retention of that mail: as long as its longest link works. */
export const INSTALLATION_KEPT_DAYS = 7

/** Limits of a plan; -1 = unlimited. The numbers are in the config file. model/limits.ts says what each limit
 *  counts. */
export interface Plan {
  requestsPerMinute: number
  messagesPerMonth: number
  domains: number
  retentionDays: number
  webhooks: number
  inboundRoutes: number
  templates: number
  /** Stored versions per template. */
  templateVersions: number
  apiKeys: number
  scheduledMessages: number
  storedBytes: number
  testMessagesPerMonth: number
  forwardsPerDay: number
  suppressions: number
  /** Each organization gets a sending address of its own, while there are spare ones. */
  dedicatedAddress: boolean
}

export const UNLIMITED = -1

/** Plan of a store without configured plans: tests, and operator tools that create nothing. */
export const UNLIMITED_PLAN: Plan = {
  requestsPerMinute: UNLIMITED,
  messagesPerMonth: UNLIMITED,
  domains: UNLIMITED,
  retentionDays: UNLIMITED,
  webhooks: UNLIMITED,
  inboundRoutes: UNLIMITED,
  templates: UNLIMITED,
  templateVersions: UNLIMITED,
  apiKeys: UNLIMITED,
  scheduledMessages: UNLIMITED,
  storedBytes: UNLIMITED,
  testMessagesPerMonth: UNLIMITED,
  forwardsPerDay: UNLIMITED,
  suppressions: UNLIMITED,
  dedicatedAddress: false,
}

/** Organization and the configured plans → the plan whose limits apply to its mail; a missing organization has the plan of
 *  the name ''. Mail of the installation itself has no limits. */
export function planFor(
  organizationId: string,
  organization: Pick<Organization, 'plan'> | null | undefined,
  plans: (name: string) => Plan,
): Plan {
  return organizationId === INSTALLATION ? UNLIMITED_PLAN : plans(organization?.plan ?? '')
}
