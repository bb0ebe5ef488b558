import type { Plan } from '../../../model/organization.ts'

/** Plan → JSON record of its limits, named as in the configuration. -1 means unlimited. */
export function planRecord(plan: Plan) {
  return {
    requests_per_minute: plan.requestsPerMinute,
    messages_per_month: plan.messagesPerMonth,
    domains: plan.domains,
    retention_days: plan.retentionDays,
    webhooks: plan.webhooks,
    inbound_routes: plan.inboundRoutes,
    templates: plan.templates,
    template_versions: plan.templateVersions,
    api_keys: plan.apiKeys,
    scheduled_messages: plan.scheduledMessages,
    stored_bytes: plan.storedBytes,
    test_messages_per_month: plan.testMessagesPerMonth,
    forwards_per_day: plan.forwardsPerDay,
    suppressions: plan.suppressions,
    dedicated_address: plan.dedicatedAddress,
  }
}
