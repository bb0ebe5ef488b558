import { number } from '../../kit/format.ts'

/** As `/v1/plans` tells it; -1 = unlimited. */
export interface Plan {
  plan: string
  requests_per_minute: number
  messages_per_month: number
  domains: number
  retention_days: number
}

export const limit = (value: number) => (value < 0 ? 'unlimited' : number(value))

/** `1,000 messages a month, 1 domain, 7 days`. */
export function limitWords(plan: Plan | undefined): string {
  if (plan === undefined) return 'a plan that is not in the config'
  const { messages_per_month, domains, retention_days } = plan
  return [
    messages_per_month < 0 ? 'any number of messages' : `${number(messages_per_month)} messages a month`,
    domains < 0 ? 'any number of domains' : `${number(domains)} ${domains === 1 ? 'domain' : 'domains'}`,
    retention_days < 0 ? 'kept for ever' : `kept ${number(retention_days)} days`,
  ].join(', ')
}
