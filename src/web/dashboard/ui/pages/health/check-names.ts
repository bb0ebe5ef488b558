/** Names and groups of the health checks. */

/** Groups of checks by name. Checks that are not listed appear at the end. */
export const GROUPS: readonly (readonly [name: string, checks: readonly string[]])[] = [
  [
    'Host and network',
    [
      'name_servers',
      'delegation',
      'hostname',
      'reverse_dns_ipv4',
      'reverse_dns_ipv6',
      'sending_addresses',
      'outbound_port_25',
      'smarthost',
      'relays',
      'blocklists',
    ],
  ],
  ['Sending domains', ['domains', 'spf', 'dmarc', 'dkim_rotation']],
  ['Mail', ['deliveries', 'canary', 'queue', 'held', 'alert_channels']],
  ['Ports and certificates', ['ports', 'low_ports', 'ipv6_listeners', 'certificate']],
  ['Sign-in', ['oidc', 'user_mail']],
  [
    'PostgreSQL and nodes',
    [
      'nodes',
      'node_settings',
      'node_names',
      'database',
      'database_durability',
      'database_standbys',
      'database_connections',
      'database_wal',
      'database_latency',
      'database_clock',
      'database_vacuum',
      'database_transactions',
      'database_replication_slots',
    ],
  ],
  ['Data', ['store', 'object_storage', 'backup', 'disk', 'data_dir']],
  ['Machine', ['clock', 'open_files', 'memory', 'inbound_reading']],
]

const NAMES: Record<string, string> = {
  alert_channels: 'Alert channels',
  reverse_dns_ipv4: 'Reverse DNS, IPv4',
  reverse_dns_ipv6: 'Reverse DNS, IPv6',
  outbound_port_25: 'Outbound port 25',
  ipv6_listeners: 'IPv6 listeners',
  oidc: 'Single sign-on',
  spf: 'SPF',
  dmarc: 'DMARC',
  data_dir: 'Data directory',
  database_wal: 'Database WAL',
  inbound_reading: 'Inbound mail sandbox',
}
/** `sending_addresses` → `Sending addresses` */
export const checkName = (name: string) => NAMES[name] ?? sentence(name)

const sentence = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
