/** Owner of domains, keys, webhooks, messages and suppressions; made by the operator (contract §2). */
export interface Organization {
  id: string
  name: string
  plan: string
  createdAt: number
}

/** What a plan allows; -1 = unlimited. Numbers live in the config file. */
export interface Plan {
  requestsPerMinute: number
  messagesPerMonth: number
  domains: number
  retentionDays: number
}

export const UNLIMITED = -1
