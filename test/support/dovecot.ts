import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { startDaemon } from './daemon.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'
import { describeWith } from './real-tools.ts'

/** A Dovecot of Debian's packages with one mailbox, which an unprivileged user runs from a temporary folder. */
export interface TestDovecot {
  /** With STARTTLS. */
  port: number
  /** With TLS from the start. */
  tlsPort: number
  /** For mail from other servers, by LMTP (RFC 2033). */
  lmtpPort: number
  /** Path of the certificate that it shows for `localhost`. */
  caFile: string
  username: string
  password: string
  address: string
  /** Number of mails in INBOX, or in another folder. */
  count(folder?: 'Junk'): number
  putIntoJunk(mail: Uint8Array): void
  /** Deletes all mail and folders. */
  empty(): void
  stop(): Promise<void>
}

const PROGRAM = '/usr/sbin/dovecot'

/** `describe` for tests that require Dovecot: see describeWith. */
export function describeWithDovecot(what: string, tests: () => void): void {
  describeWith(['dovecot'], what, tests)
}

/** Starts it. Throws with its log if it does not start. */
export async function startDovecot(): Promise<TestDovecot> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-dovecot-'))
  chmodSync(folder, 0o755)
  const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534, name: 'nobody', group: 'nogroup' } : self()
  const own = (path: string) => chownSync(path, owner.uid, owner.gid)
  const file = (name: string) => join(folder, name)
  const ownFolder = (name: string) => {
    mkdirSync(file(name))
    own(file(name))
  }
  for (const name of ['run', 'mail']) ownFolder(name)
  own(folder)
  const { exitCode, stderr } = Bun.spawnSync([
    'openssl', 'req', '-x509', '-batch', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
    '-keyout', file('key.pem'), '-out', file('cert.pem'), '-subj', '/CN=localhost', '-days', '20000',
    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ]) // biome-ignore format: one command
  if (exitCode !== 0) throw new Error(String(stderr))
  const [port, tlsPort, lmtpPort] = [await freePort(), await freePort(), await freePort()]
  writeFileSync(file('users'), 'seed:{PLAIN}let me in::::::\n')
  writeFileSync(file('dovecot.conf'), configOf(folder, owner, { port, tlsPort, lmtpPort }))
  for (const name of ['key.pem', 'cert.pem', 'users', 'dovecot.conf']) own(file(name))

  const daemon = startDaemon([PROGRAM, '-F', '-c', file('dovecot.conf')], { folder, uid: owner.uid, gid: owner.gid })
  await until('dovecot to start', async () => {
    if (!daemon.isRunning()) throw new Error(`dovecot does not start: ${daemon.log()}`)
    const open = await Promise.all([port, tlsPort, lmtpPort].map(isOpen))
    return open.every(Boolean)
  })
  const count = (name?: 'Junk') => {
    const base = join(folder, 'mail', ...(name === undefined ? [] : [`.${name}`]))
    return ['new', 'cur'].flatMap((part) => (existsSync(join(base, part)) ? readdirSync(join(base, part)) : [])).length
  }
  return {
    port,
    tlsPort,
    lmtpPort,
    caFile: file('cert.pem'),
    username: 'seed',
    password: 'let me in',
    address: 'seed@mailbox.remote.example',
    count,
    putIntoJunk: (mail) => {
      for (const part of ['', 'cur', 'new', 'tmp']) {
        const path = join(folder, 'mail', '.Junk', part)
        mkdirSync(path, { recursive: true })
        own(path)
      }
      const path = join(folder, 'mail', '.Junk', 'new', `1.${count('Junk')}.localhost`)
      writeFileSync(path, mail)
      own(path)
    },
    empty: () => {
      rmSync(file('mail'), { recursive: true })
      ownFolder('mail')
    },
    stop: async () => {
      await daemon.end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Owner {
  uid: number
  gid: number
  name: string
  group: string
}

function self(): Owner {
  const { uid, gid, username } = userInfo()
  return { uid, gid, name: username, group: String(Bun.spawnSync(['id', '-gn']).stdout).trim() }
}

function configOf(
  folder: string,
  { uid, gid, name, group }: Owner,
  { port, tlsPort, lmtpPort }: { port: number; tlsPort: number; lmtpPort: number },
): string {
  return `protocols = imap lmtp
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = /dev/stderr
listen = 127.0.0.1
default_internal_user = ${name}
default_internal_group = ${group}
default_login_user = ${name}
first_valid_uid = 1
first_valid_gid = 1
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
ssl_dh =
auth_mechanisms = plain
auth_username_format = %n
auth_failure_delay = 0
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%n ${folder}/users
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail allow_all_users=yes
}
mail_location = maildir:${folder}/mail
namespace inbox {
  inbox = yes
  separator = /
  mailbox Junk {
    auto = create
    special_use = \\Junk
  }
}
# Otherwise each wrong password makes the next login wait longer.
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    port = ${lmtpPort}
  }
}
service stats {
  chroot =
}
protocol lmtp {
  auth_username_format = %n
}
`
}

function isOpen(port: number): Promise<boolean> {
  return Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )
}
