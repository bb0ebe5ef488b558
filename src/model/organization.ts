/** Owner of domains, keys, webhooks, messages and suppressions; created by the operator. */
export interface Organization {
  id: string
  name: string
  plan: string
  createdAt: number
}

/** What a plan allows; -1 = unlimited. Numbers live in the config file. What each counts: model/limits.ts. */
export interface Plan {
  requestsPerMinute: number
  messagesPerMonth: number
  domains: number
  retentionDays: number
  webhooks: number
  inboundRoutes: number
  templates: number
  /** Kept of each template. */
  templateVersions: number
  apiKeys: number
  scheduledMessages: number
  storedBytes: number
  testMessagesPerMonth: number
  forwardsPerDay: number
  suppressions: number
}

export const UNLIMITED = -1

/** For a store that nobody gave plans to: tests, and tools of the operator that create nothing. */
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
}
