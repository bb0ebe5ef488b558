/** Owner of domains, keys, webhooks, messages and suppressions; created by the operator. */
export interface Organization {
  id: string
  name: string
  plan: string
  createdAt: number
}

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

/** Plans of a store without configured plans: tests, and operator tools that create nothing. */
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
