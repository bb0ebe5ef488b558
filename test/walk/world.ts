import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { until } from '../support/patience.ts'
import { postgresPrograms } from '../support/postgres.ts'
import { run } from '../support/real-tools.ts'
import { type NameServer, startNameServer } from './name-server.ts'
import { addressesOf, type Network, startNetwork } from './network.ts'

/** What the machines of a walk find outside: DNS, an authority for certificates, mail servers, webhook endpoints, an OpenID
 *  provider, and the machine of the database. */
export interface World {
  network: Network
  dns: NameServer
  /** PEM file that machines trust for the authority, the endpoints, the provider and the database. */
  certificateFile: string
  /** PEM file of the authority's root, which browsers trust. */
  rootFile: string
  clientSecret: string
  /** A folder for files of the walk. */
  folder: string
  mails(): Mail[]
  posts(): Post[]
  /** Starts the receiver of webhooks.md with a secret → what it has printed. */
  receive(program: string, secret: string): () => string
  /** Starts PostgreSQL at db.example.com, with TLS → runs lines of shell there as its superuser. */
  startDatabase(): Promise<(lines: string) => Promise<string>>
  stop(): Promise<void>
}

export interface Mail {
  to: string[]
  /** Address of the sender. */
  from: string
  isTls: boolean
  raw: string
}

export interface Post {
  url: string
  headers: Record<string, string>
  body: string
}

const NAMES = ['acme', 'db', 'hooks', 'login', 'shop'].map((name) => `${name}.example.com`)

export async function startWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-world-'))
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const network = await startNetwork()
    undo.push(network.stop)
    const dns = await startNameServer(network, folder)
    undo.push(dns.stop)
    const { keyPem, certificatePem } = await selfSignedCertificate({ names: NAMES, now: Date.now() })
    const [certificateFile, keyFile] = [join(folder, 'world.pem'), join(folder, 'world.key')]
    writeFileSync(certificateFile, certificatePem)
    writeFileSync(keyFile, keyPem)
    const startIn = (name: string, command: string[]) => {
      mkdirSync(join(folder, name))
      const daemon = network.start(command, join(folder, name))
      undo.push(() => daemon.end('SIGKILL'))
      return daemon
    }
    startIn('pebble', pebble(folder, certificateFile, keyFile))
    const rootFile = join(folder, 'root.pem')
    const fetchRoot = ['curl', '-s', '--cacert', certificateFile, 'https://acme.example.com:15000/roots/0']
    await until('Pebble', async () => {
      const root = await network.must(fetchRoot).catch(() => '')
      writeFileSync(rootFile, root)
      return root !== ''
    })
    const program = join(import.meta.dir, 'world-process.ts')
    const peers = startIn('peers', [process.execPath, program, certificateFile, keyFile])
    const told = () => {
      if (!peers.isRunning()) throw new Error(`the mail server and the provider ended: ${peers.log()}`)
      return linesOf(peers.log())
    }
    await until('the mail server and the provider', () => told().some(({ ready }) => ready))
    return {
      network,
      dns,
      certificateFile,
      rootFile,
      clientSecret: told().find(({ ready }) => ready)!.clientSecret!,
      folder,
      mails: () => told().flatMap(({ mail }) => mail ?? []),
      posts: () => told().flatMap(({ post }) => post ?? []),
      receive: (text, secret) => {
        writeFileSync(join(folder, 'receive.mjs'), text)
        return startIn('receiver', ['env', `WEBHOOK_SECRET=${secret}`, process.execPath, join(folder, 'receive.mjs')])
          .log
      },
      startDatabase: async () => {
        const database = await startDatabase(network, folder, { certificatePem, keyPem })
        undo.push(database.stop)
        return database.run
      },
      stop,
    }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

interface Line {
  ready?: true
  clientSecret?: string
  mail?: Mail
  post?: Post
}

/** The last line may be incomplete. */
function linesOf(log: string): Line[] {
  const complete = log.slice(0, log.lastIndexOf('\n') + 1).split('\n')
  return complete.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line)
}

/** Writes its config → the command. It asks BIND, and validates on port 80 as a real authority. */
function pebble(folder: string, certificate: string, privateKey: string): string[] {
  const config = join(folder, 'pebble.json')
  const settings = {
    listenAddress: `${addressesOf(1).v4}:14000`,
    managementListenAddress: `${addressesOf(1).v4}:15000`,
    ...{
      certificate,
      privateKey,
      httpPort: 80,
      tlsPort: 1,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
    },
  }
  writeFileSync(config, JSON.stringify({ pebble: settings }))
  return ['env', 'PEBBLE_VA_NOSLEEP=1', 'pebble', '-config', config, '-dnsserver', `${addressesOf(1).v4}:53`]
}

async function startDatabase(network: Network, parent: string, tls: { certificatePem: string; keyPem: string }) {
  const folder = join(parent, 'database')
  const file = (name: string) => join(folder, name)
  mkdirSync(folder)
  writeFileSync(file('tls.pem'), tls.certificatePem)
  writeFileSync(file('tls.key'), tls.keyPem, { mode: 0o600 })
  const must = async (command: string[]) => {
    const { exitCode, output } = await run(command)
    if (exitCode !== 0) throw new Error(`${command[0]}: ${output}`)
  }
  await must(['chmod', '711', parent])
  await must(['chown', '-R', 'postgres:postgres', folder])
  const asOwner = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
  const inside = ['env', '-C', folder, `PGHOST=${folder}`]
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(postgresPrograms()!, name))
  await must([
    ...asOwner,
    ...inside,
    initdb!,
    '-D',
    file('data'),
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ])
  writeFileSync(
    file('data/pg_hba.conf'),
    `local all all trust\nhostssl all all ${addressesOf(0).v4}/24 scram-sha-256\n`,
  )
  const settings = {
    listen_addresses: addressesOf(1).v4,
    unix_socket_directories: folder,
    fsync: 'off',
    ssl: 'on',
    ssl_cert_file: file('tls.pem'),
    ssl_key_file: file('tls.key'),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = network.start([postgres!, '-D', file('data'), ...options], folder, 'postgres')
  await until('PostgreSQL', () => {
    if (!server.isRunning()) throw new Error(`PostgreSQL ended: ${server.log()}`)
    return server.log().includes('ready to accept connections')
  })
  return {
    run: (lines: string) => network.must([...asOwner, ...inside, 'sh', '-c', `set -eu\n${lines}`]),
    stop: () => server.end('SIGQUIT'),
  }
}
