import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Certificate, selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { startDaemon } from './daemon.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'

/** Programs that a private Postfix needs, for describeWith. */
export const POSTFIX_TOOLS = ['root', 'postfix', 'saslpasswd2', 'openssl']

/** A real Postfix as relay, with its own folder and queue. It relays only for one user, and offers a login only over TLS. */
export interface Postfix {
  /** With STARTTLS. */
  port: number
  /** Without TLS, where it offers the login in clear. */
  plainPort: number
  /** Its own authority, for `relay.provider.example`. PEM */
  certificatePem: string
  /** SHA-256 of its certificate, in hex. */
  fingerprint: string
  login: { user: string; password: string }
  /** Changes the password of the user; `login` stays as it was. */
  setPassword(password: string): void
  log(): string
  stop(): Promise<void>
}

const DAEMONS = '/usr/lib/postfix/sbin'
const LOGIN = { user: 'shop', password: 'corr3ct horse' }

/** Starts it. `next` is the port of the server that all mail goes to, `returns` that of the server for the bounces of
 *  `returnHost`; both on loopback. */
export async function startPostfix(options: { next: number; returns: number; returnHost: string }): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-postfix-'))
  chmodSync(folder, 0o755)
  const [port, plainPort] = [await freePort(), await freePort()]
  const certificate = await selfSignedCertificate({ names: ['relay.provider.example'], now: Date.now() })
  await writeFolder(folder, { ...options, port, plainPort, certificate })
  const daemon = startDaemon(['postfix', '-c', folder, 'start-fg'], { folder })
  const log = () => readFileSync(join(folder, 'log'), 'utf8')
  await until('Postfix to start', () => greets(port))
  return {
    port,
    plainPort,
    certificatePem: certificate.certificatePem,
    fingerprint: fingerprintOf(certificate.certificatePem),
    login: LOGIN,
    setPassword: (password) => setPassword(folder, password),
    log,
    stop: async () => {
      Bun.spawnSync(['postfix', '-c', folder, 'abort'])
      await until('Postfix to end', () => !daemon.isRunning())
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function writeFolder(
  folder: string,
  of: { next: number; returns: number; returnHost: string; port: number; plainPort: number; certificate: Certificate },
): Promise<void> {
  const file = (name: string) => join(folder, name)
  for (const name of ['queue', 'sasl', 'data']) mkdirSync(file(name))
  const { uid, gid } = userNamed('postfix')
  chownSync(file('data'), uid, gid)
  writeFileSync(file('log'), '')
  writeFileSync(file('tls.pem'), `${of.certificate.keyPem}\n${of.certificate.certificatePem}`, { mode: 0o600 })
  writeFileSync(file('transport'), `${of.returnHost} smtp:[127.0.0.1]:${of.returns}\n`)
  writeFileSync(file('main.cf'), mainConfig(folder, of.next))
  writeFileSync(file('master.cf'), services(of.port, of.plainPort))
  writeFileSync(file('sasl/smtpd.conf'), saslConfig(file('sasl/users')))
  setPassword(folder, LOGIN.password)
  chownSync(file('sasl/users'), uid, gid)
}

function setPassword(folder: string, password: string): void {
  const args = ['-p', '-c', '-f', join(folder, 'sasl/users'), '-u', 'relay.provider.example', LOGIN.user]
  const made = Bun.spawnSync(['saslpasswd2', ...args], { stdin: Buffer.from(password) })
  if (made.exitCode !== 0) throw new Error(`saslpasswd2: ${made.stderr}`)
}

const mainConfig = (folder: string, next: number) => `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
daemon_directory = ${DAEMONS}
command_directory = /usr/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = relay.provider.example
mydestination =
alias_maps =
mynetworks =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtp_dns_support_level = disabled
relayhost = [127.0.0.1]:${next}
transport_maps = texthash:${folder}/transport
maillog_file = ${folder}/log
maillog_file_prefixes = ${folder}
smtpd_tls_chain_files = ${folder}/tls.pem
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = cyrus
cyrus_sasl_config_path = ${folder}/sasl
smtpd_sasl_local_domain = relay.provider.example
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_sasl_security_options = noanonymous
minimal_backoff_time = 1s
queue_run_delay = 1s
message_size_limit = 0
mailbox_size_limit = 0
`

const services = (port: number, plainPort: number) => `127.0.0.1:${port} inet n - n - - smtpd
127.0.0.1:${plainPort} inet n - n - - smtpd
  -o smtpd_tls_security_level=none -o smtpd_tls_auth_only=no
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
showq unix n - n - - showq
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

const saslConfig = (users: string) => `pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: ${users}
mech_list: PLAIN LOGIN
`

function userNamed(name: string): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid] = (line ?? '').split(':').map(Number)
  if (uid === undefined || gid === undefined) throw new Error(`no user ${name}`)
  return { uid, gid }
}

function fingerprintOf(certificatePem: string): string {
  const { stdout } = Bun.spawnSync(['openssl', 'x509', '-noout', '-fingerprint', '-sha256'], {
    stdin: Buffer.from(certificatePem),
  })
  return stdout.toString().trim().split('=')[1]!
}

/** Whether the port says 220. */
async function greets(port: number): Promise<boolean> {
  const heard = Promise.withResolvers<boolean>()
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (socket, bytes) => {
        heard.resolve(bytes.toString().startsWith('220'))
        socket.end('QUIT\r\n')
      },
      close: () => heard.resolve(false),
      error: () => heard.resolve(false),
      connectError: () => heard.resolve(false),
    },
  }).catch(() => heard.resolve(false))
  return heard.promise
}
