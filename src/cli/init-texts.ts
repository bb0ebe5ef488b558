import { networkInterfaces } from 'node:os'

/** Settings → text of the config file that `init` writes. Undefined settings keep their defaults. */
export function initialConfig(settings: {
  hostname: string
  dataDir?: string | undefined
  contact?: string | undefined
  https?: true | undefined
  dnsProvider?: string | undefined
  /** The URL itself, or the name of a file that contains it. */
  smarthost?: { url: string } | { file: string } | undefined
  /** The same of PostgreSQL. */
  database?: (({ url: string } | { file: string }) & { caFile: string | undefined }) | undefined
}): string {
  const { hostname, dataDir, contact, https, dnsProvider, smarthost, database } = settings
  return `# Postrider configuration. Keys that are not set here use their default. For all keys and their descriptions, see
# config.example.toml or run \`postrider config example\`. Run \`postrider config check\` after each change.

# Public hostname of this machine, used in SMTP greetings. Its A/AAAA records and the PTR record of its IP address
# must match.
hostname = ${JSON.stringify(hostname)}

${database === undefined ? '# Folder of the database with messages, keys and events. Keep it private and back it up.' : '# Folder of this node, with seal.key. Keep it private, and keep a copy of seal.key.'}
${dataDir === undefined ? '#data_dir = "/var/lib/postrider"' : `data_dir = ${JSON.stringify(dataDir)}`}
${databaseLines(database)}
${https ? httpsLines(contact) : PLAIN_LINES}
${everyAddress() === '[::]' ? INBOUND_LINES : ''}
[delivery]
# If your provider blocks port 25, send through its relay. Percent-encode the user and password.
${smarthostLine(smarthost)}
${contact === undefined ? '' : `\n[reports]\n# Contact address for recipients of the reports that this server sends.\ncontact = ${JSON.stringify(contact)}\n`}${dnsProvider === undefined ? '' : dnsLines(dnsProvider)}`
}

/** The host to listen at on all addresses of this machine: `::` accepts both families, but fails without IPv6. */
export const everyAddress = () =>
  Object.values(networkInterfaces()).some((each) => each?.some(({ family }) => family === 'IPv6')) ? '[::]' : '0.0.0.0'

/** The default is IPv4 only. */
const INBOUND_LINES = `
[smtp.inbound]
# Mail from other servers, over IPv4 and IPv6.
listen = "[::]:25"
`

const PLAIN_LINES = `[http]
# API and dashboard over plain HTTP, for this machine only. To serve HTTPS, set listen_tls here and the keys in [tls], or
# use a reverse proxy with behind_proxy = true and its address in public_url.
#listen = "127.0.0.1:8025"`

const httpsLines = (contact: string | undefined) => `[http]
# API and dashboard over HTTPS. Port 80 answers certificate challenges and redirects to HTTPS.
listen_tls = "${everyAddress()}:443"
listen_redirect = "${everyAddress()}:80"

[tls]
# A certificate from Let's Encrypt. You agreed to its terms: https://letsencrypt.org/repository/
mode = "acme"
acme_agree_terms = true
${contact === undefined ? '#acme_contact = ""' : `acme_contact = ${JSON.stringify(contact)}`}`

const dnsLines = (provider: string) => `
[dns]
# Provider at which \`postrider dns apply\` changes records. The file has its key, as lines NAME=value.
provider = ${JSON.stringify(provider)}
#credentials_file = "/etc/postrider/dns-credentials"
# Zones in which the server rotates DKIM keys by itself.
#provider_zones = ["example.com"]
`

function databaseLines(database: Parameters<typeof initialConfig>[0]['database']): string {
  if (database === undefined) return ''
  const { caFile } = database
  return `
[database]
# PostgreSQL, which all nodes share.
${'url' in database ? `url = ${JSON.stringify(database.url)}` : `url_file = ${JSON.stringify(database.file)}`}
${caFile === undefined ? '' : `ca_file = ${JSON.stringify(caFile)}\n`}`
}

function smarthostLine(smarthost: Parameters<typeof initialConfig>[0]['smarthost']): string {
  if (smarthost === undefined) return '#smarthost = "smtp://user:password@smtp.example.com:587"'
  if ('url' in smarthost) return `smarthost = ${JSON.stringify(smarthost.url)}`
  return `smarthost_file = ${JSON.stringify(smarthost.file)}`
}
