import { number } from '../../kit/format.ts'

/** A plan of `/v1/plans`; -1 means unlimited. */
export interface Plan {
  plan: string
  requests_per_minute: number
  messages_per_month: number
  domains: number
  retention_days: number
}

/** `1,000`, or `unlimited` for a negative number. */
export const limit = (value: number) => (value < 0 ? 'unlimited' : number(value))

/** Summary of a plan: `1,000 messages per month, 1 domain, 7-day retention`. */
export function limitsText(plan: Plan | undefined): string {
  if (plan === undefined) return 'Plan not in the config'
  const { messages_per_month, domains, retention_days } = plan
  return [
    messages_per_month < 0 ? 'Unlimited messages' : `${number(messages_per_month)} messages per month`,
    domains < 0 ? 'unlimited domains' : `${number(domains)} ${domains === 1 ? 'domain' : 'domains'}`,
    retention_days < 0 ? 'unlimited retention' : `${number(retention_days)}-day retention`,
  ].join(', ')
}
