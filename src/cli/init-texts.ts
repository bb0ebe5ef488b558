/** What `init` writes, for people to read and change. */

/** Host name, and what else was decided (undefined: the default) → a config with only that. */
export function initialConfig(decided: {
  hostname: string
  dataDir?: string | undefined
  contact?: string | undefined
  https?: true | undefined
  /** As it is, or a file that it stands in. */
  smarthost?: { url: string } | { file: string } | undefined
}): string {
  const { hostname, dataDir, contact, https, smarthost } = decided
  return `# Postrider. Only what had to be decided stands here; everything else has a default. All keys with their meaning:
# config.example.toml, or \`postrider config example\`. After a change: \`postrider config check\`.

# The public name of this machine, said in SMTP greetings. Its A/AAAA record and the PTR record of its address
# should agree.
hostname = ${JSON.stringify(hostname)}

# The database with messages, keys and events. Back it up; keep it to yourself.
${dataDir === undefined ? '#data_dir = "/var/lib/postrider"' : `data_dir = ${JSON.stringify(dataDir)}`}

${https ? httpsLines(contact) : PLAIN_LINES}

[delivery]
# When your provider blocks port 25: the relay it offers, user and password percent-encoded.
${smarthostLine(smarthost)}
${contact === undefined ? '' : `\n[reports]\n# Whom the readers of our reports may write to.\ncontact = ${JSON.stringify(contact)}\n`}`
}

const PLAIN_LINES = `[http]
# The API and the dashboard, in clear, for this machine alone. The world wants HTTPS: listen_tls here and [tls] say how
# Postrider answers it itself, or a proxy in front does, with behind_proxy = true and the address it has in public_url.
#listen = "127.0.0.1:8025"`

const httpsLines = (contact: string | undefined) => `[http]
# The API and the dashboard by HTTPS, and what is asked for at port 80 to get a certificate.
listen_tls = "0.0.0.0:443"
listen_redirect = "0.0.0.0:80"

[tls]
# A certificate from Let's Encrypt, whose terms were agreed to: https://letsencrypt.org/repository/
mode = "acme"
acme_agree_terms = true
${contact === undefined ? '#acme_contact = ""' : `acme_contact = ${JSON.stringify(contact)}`}`

function smarthostLine(smarthost: Parameters<typeof initialConfig>[0]['smarthost']): string {
  if (smarthost === undefined) return '#smarthost = "smtp://user:password@smtp.example.com:587"'
  if ('url' in smarthost) return `smarthost = ${JSON.stringify(smarthost.url)}`
  return `smarthost_file = ${JSON.stringify(smarthost.file)}`
}
