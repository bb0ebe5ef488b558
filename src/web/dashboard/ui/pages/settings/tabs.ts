/** Tabs of the organization, then those of the server, each with the operation that it needs. */
export const SETTINGS_TABS = [
  ['general', 'General', 'usage_get'],
  ['plan', 'Plan & usage', 'usage_get'],
  ['members', 'Members', 'users_list'],
  ['audit-log', 'Audit log', 'audit_log_list'],
  ['configuration', 'Configuration', 'configuration_get'],
  ['streams', 'Streams', 'configuration_get'],
  ['sessions', 'Sessions', 'sessions_list'],
  ['blocked-links', 'Blocked links', 'blocked_links_list'],
] as const
export type SettingsTab = (typeof SETTINGS_TABS)[number][0]
