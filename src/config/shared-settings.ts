import { readConfig } from './load.ts'
import { camelCase, childOf, isSection, root } from './paths.ts'
import { derivePublicUrl } from './read.ts'
import type { Config, OpenSection, Section } from './schema.ts'

/** Settings of one machine: its name, its addresses and ports, its files, its capacity, and what only commands use. Nodes
 *  may differ in them. */
const OWN = [
  'hostname',
  'data_dir',
  'storage.min_free_bytes',
  'backup.to',
  'backup.keep',
  'database.url',
  'database.ca_file',
  'cluster.name',
  'http.listen',
  'http.listen_tls',
  'http.listen_redirect',
  'tls.certificate_file',
  'tls.key_file',
  'tls.acme_ca_file',
  'tls.acme_http_port',
  'smtp.certificate_file',
  'smtp.key_file',
  'smtp.max_connections',
  'smtp.max_connections_per_address',
  'smtp.inbound.listen',
  'smtp.submission.listen',
  'smtp.submission.listen_tls',
  'delivery.workers',
  'delivery.max_in_flight',
  'delivery.source_address',
  'dns.servers',
  'dns.listen',
  'dns.provider',
  'dns.credentials_file',
  'webhooks.ca_file',
  'webhooks.max_in_flight',
  'attachments.ca_file',
  'oidc.ca_file',
  'limits.memory_bytes',
  'metrics.listen',
  'health.look_outside',
  'log.level',
  'log.format',
]

/** Config → the settings that all nodes of an installation must have, as JSON by dotted path, without those that have
 *  their default. It contains secrets: storage publishes keyed digests only. */
export function sharedSettings(config: Config): Map<string, string> {
  const plain = readConfig({ text: `hostname = ${JSON.stringify(config.hostname)}`, file: '', env: {} })
  const defaults = plain.config === undefined ? new Map<string, string>() : valuesOf(plain.config)
  // Where it is not set, it follows from the hostname and the listeners.
  defaults.set('http.public_url', JSON.stringify(derivePublicUrl(config.hostname, config.http)))
  return new Map([...valuesOf(config)].filter(([path, value]) => !OWN.includes(path) && defaults.get(path) !== value))
}

function valuesOf(config: Config): Map<string, string> {
  const values = new Map<string, string>()
  const visit = (section: Section | OpenSection, from: object, prefix: string) => {
    const names = new Map(Object.keys(section.keys).map((name) => [camelCase(name), name]))
    for (const [property, value] of Object.entries(from)) {
      const name = names.get(property) ?? property
      const node = childOf(section, name)
      if (node === undefined) continue
      // A plan, a stream or a destination is one setting.
      if (isSection(node) && !('other' in section)) visit(node, value, `${prefix}${name}.`)
      else values.set(prefix + name, JSON.stringify(value, sorted))
    }
  }
  visit(root, config, '')
  return values
}

/** The order of names in a table does not matter. */
function sorted(_: string, value: unknown): unknown {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isTable ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value
}
