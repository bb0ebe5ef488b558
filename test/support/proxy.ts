import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'
import { run } from './real-tools.ts'

/** The proxies of scripts/examples, in front of a server of a test. */

/** A running proxy. */
export interface RunningProxy {
  /** A path at a host of the test's domain, with curl → status, headers and body. `from` is the client's address. */
  ask(path: string, options?: Request): Promise<Answer>
  /** The arguments of that curl. */
  curl(path: string, options?: Request): string[]
  stop(): Promise<void>
}

interface Request {
  host?: string
  from?: string
  scheme?: 'http' | 'https'
  headers?: Record<string, string>
  /** Further arguments of curl. */
  more?: string[]
}

interface Answer {
  status: number
  /** A line each. */
  headers: string
  body: string
}

/** The text of an example, with each change made; throws where one does not apply. */
export function changed(text: string, changes: readonly (readonly [string | RegExp, string])[]): string {
  return changes.reduce((before, [from, to]) => {
    const isThere = typeof from === 'string' ? before.includes(from) : before.search(from) >= 0
    if (!isThere) throw new Error(`the example does not contain ${from}`)
    return before.replaceAll(from, to)
  }, text)
}

export const example = (name: string) => readFileSync(join(import.meta.dir, '../../scripts/examples', name), 'utf8')

/** Starts Caddy or nginx with its example, for the domain, in front of `upstream` (`host:port`). */
export async function startProxy(
  kind: 'caddy' | 'nginx',
  options: { domain: string; upstream: string },
): Promise<RunningProxy> {
  const { domain, upstream } = options
  const folder = mkdtempSync(join(tmpdir(), `postrider-${kind}-`))
  const [http, https] = [await freePort(), await freePort()]
  const names = ['mail', 'mta-sts', 'links'].map((name) => `${name}.${domain}`)
  const text = changed(example(EXAMPLES[kind]), [
    ['example.com', domain],
    ['127.0.0.1:8025', upstream],
  ])
  const start = kind === 'caddy' ? caddy : await nginx(folder, names)
  const { command, env, ca } = start(text, { folder, http, https })
  const child = Bun.spawn(command, { env, stdin: 'ignore', stdout: 'ignore', stderr: Bun.file(join(folder, 'errors')) })
  const curl = (
    path: string,
    { host = names[0]!, from = '127.0.0.1', scheme = 'https', headers = {}, more = [] }: Request = {},
  ) => {
    const port = scheme === 'https' ? https : http
    return [
      ...['curl', '--silent', '--show-error', '--cacert', ca, '--interface', from],
      ...['--resolve', `${host}:${port}:127.0.0.1`, ...more],
      ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      `${scheme}://${host}:${port}${path}`,
    ]
  }
  const ask = async (path: string, request: Request = {}): Promise<Answer> => {
    const more = [...(request.more ?? []), '--include', '--max-time', '240']
    const { exitCode, output } = await run(curl(path, { ...request, more }))
    if (exitCode !== 0) throw new Error(output)
    // curl prints `100 Continue` as a response of its own.
    const [head = '', ...body] = output.replace(/^HTTP\S+ 100[\s\S]*?\r\n\r\n/, '').split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), headers: head, body: body.join('\r\n\r\n') }
  }
  const stop = async () => {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await until(`${kind} to listen`, async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(join(folder, 'errors'), 'utf8'))
      return (
        existsSync(ca) &&
        (await ask('/healthz').then(
          ({ status }) => status === 200,
          () => false,
        ))
      )
    })
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return { ask, curl, stop }
}

export const EXAMPLES = { caddy: 'Caddyfile', nginx: 'nginx.conf' } as const

interface Places {
  folder: string
  http: number
  https: number
}

/** With certificates of its own authority. */
function caddy(text: string, { folder, http, https }: Places) {
  const global = `{
    admin off
    local_certs
    skip_install_trust
    http_port ${http}
    https_port ${https}
    default_bind 127.0.0.1
  }`
  writeFileSync(join(folder, 'Caddyfile'), `${global}\n${text}`)
  return {
    command: ['caddy', 'run', '--config', join(folder, 'Caddyfile')],
    env: { PATH: process.env.PATH!, HOME: folder, XDG_DATA_HOME: folder },
    ca: join(folder, 'caddy/pki/authorities/local/root.crt'),
  }
}

async function nginx(folder: string, names: string[]) {
  const made = await selfSignedCertificate({ names, now: Date.now() })
  writeFileSync(join(folder, 'fullchain.pem'), made.certificatePem)
  writeFileSync(join(folder, 'privkey.pem'), made.keyPem)
  return (text: string, { http, https }: Places) => {
    const own = changed(text, [
      [/\/etc\/letsencrypt\/live\/[^/]+/g, folder],
      [/^ *listen \[::\].*\n/gm, ''],
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen 443 ', `listen 127.0.0.1:${https} `],
    ])
    writeFileSync(join(folder, 'nginx.conf'), nginxMain(folder, own))
    return {
      command: ['nginx', '-e', join(folder, 'errors'), '-c', join(folder, 'nginx.conf')],
      env: { PATH: process.env.PATH! },
      ca: join(folder, 'fullchain.pem'),
    }
  }
}

/** Servers → a whole configuration that writes to the folder only. */
export function nginxMain(folder: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `${user} daemon off; pid ${folder}/pid; error_log ${folder}/errors; events {}
    http { access_log off; ${temporary} ${servers} }`
}
