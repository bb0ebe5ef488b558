/** Speed and memory of the compiled binary, measured from outside, with the defaults but for what a world on
 *  loopback needs (its own DNS, private destinations, no verified domain): every mail durable before its 202, both DKIM
 *  signatures, attempts and events recorded.
 *
 *    bun scripts/bench.ts [--rounds 3] [--against FILE] [--only accept,send,inbound,claim,idle] [--messages 5000]
 *
 *  Prints median (min–max) of the rounds. With `--against`, an earlier binary runs in turn with this one. Generator,
 *  sink and receiver are processes of their own on the same machine; compare within one run only. */
import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { signDkim } from '../src/mail/dkim.ts'
import { selfSignedCertificate } from '../src/platform/certificate.ts'
import { startZone } from '../src/platform/zone-server.ts'
import { measureClaim } from './bench/claim.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '5000' },
    against: { type: 'string' },
    only: { type: 'string', default: 'idle,accept,send,inbound,claim' },
  },
})
const ROOT = join(import.meta.dir, '..')
const rounds = Number(options.rounds)
const messages = Number(options.messages)
const parts = options.only.split(',')
const binaries = [
  { name: 'this', file: join(ROOT, 'dist/postrider') },
  ...(options.against === undefined ? [] : [{ name: 'against', file: options.against }]),
]
const scratch = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
const figures = new Map<string, number[]>()

const bodyFile = join(scratch, 'body.json')
writeFileSync(bodyFile, JSON.stringify({ ...envelope(), html: html(10_240) }))
const heldFile = join(scratch, 'held.json')
const inADay = new Date(Date.now() + 86_400_000).toISOString()
writeFileSync(heldFile, JSON.stringify({ ...envelope(), html: html(10_240), scheduled_at: inADay }))
const batchFile = join(scratch, 'batch.json')
const one = { ...envelope(), html: html(1_024), scheduled_at: inADay }
writeFileSync(batchFile, JSON.stringify({ messages: Array.from({ length: 500 }, () => one) }))

try {
  for (let round = 0; round < rounds; round++) {
    for (const binary of binaries) {
      if (parts.includes('idle')) await benchIdle(binary)
      if (parts.includes('accept')) await benchAccept(binary)
      if (parts.includes('send')) await benchSend(binary, false)
      if (parts.includes('send')) await benchSend(binary, true)
      if (parts.includes('inbound')) await benchInbound(binary)
    }
    if (parts.includes('accept')) await benchReference()
    if (parts.includes('claim')) note('this: claim behind 200,000 due of one dead domain, ms', await measureClaim())
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
report()
process.exit(0)

async function benchIdle(binary: Binary): Promise<void> {
  const house = await openHouse(binary, { sinkPort: 1, inbound: [] })
  note(`${binary.name}: start to ready, ms`, house.readyMs)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  note(`${binary.name}: resident idle, MB`, house.residentMb())
  await house.stop()
}

async function benchAccept(binary: Binary): Promise<void> {
  const house = await openHouse(binary, { sinkPort: 1 })
  await load(house, 50, 20_000, heldFile) // until the runtime has compiled what is hot
  for (const connections of [1, 10, 50]) {
    const result = await load(house, connections, connections === 1 ? messages / 2 : messages * 2, heldFile)
    note(`${binary.name}: accepted/s at ${connections} connections`, result.perSecond)
    note(`${binary.name}: accept p99 at ${connections} connections, ms`, result.p99Ms)
  }
  const keyed = await load(house, 50, messages * 2, heldFile, 'idempotent')
  note(`${binary.name}: accepted/s at 50 connections with Idempotency-Key`, keyed.perSecond)
  const batches = await load(house, 4, 40, batchFile)
  note(`${binary.name}: accepted/s in batches of 500`, batches.perSecond * 500)
  note(`${binary.name}: resident after accepting, MB`, house.residentMb())
  await house.stop()
}

/** The same load on a server that does nothing but store: how fast this machine is today. */
async function benchReference(): Promise<void> {
  const reference = await start('bun', [join(ROOT, 'scripts/bench/reference.ts')])
  const house = { http: reference.first.http as unknown as string, key: 'none' }
  await load(house, 50, 20_000, heldFile)
  const { perSecond } = await load(house, 50, messages * 2, heldFile)
  note('a bare server that only stores the body: accepted/s at 50 connections', perSecond)
  const own = figures.get('this: accepted/s at 50 connections')?.at(-1) ?? Number.NaN
  note('this: accepting at 50 connections, share of the bare server', own / perSecond)
  await reference.terminate()
}

async function benchSend(binary: Binary, withWebhook: boolean): Promise<void> {
  const sink = await start('bun', [join(ROOT, 'scripts/bench/sink.ts')])
  const receiver = withWebhook ? await startReceiver() : null
  const house = await openHouse(binary, { sinkPort: sink.first.port!, caFile: receiver?.certificateFile })
  if (receiver !== null) await subscribe(house, receiver.port)
  await load(house, 20, 500, bodyFile)
  await until(async () => (await sink.ask()).mails === 500)

  const cpuBefore = house.cpuSeconds()
  const startedAt = performance.now()
  const accepted = load(house, 20, messages, bodyFile)
  let peakMb = 0
  await until(async () => {
    peakMb = Math.max(peakMb, house.residentMb())
    return (await sink.ask()).mails === 500 + messages
  })
  const seconds = (performance.now() - startedAt) / 1000
  await accepted
  if (receiver !== null) await until(async () => (await receiver.process.ask()).posts === 500 + messages)
  const told = (performance.now() - startedAt) / 1000
  const label = withWebhook ? 'end to end with a webhook' : 'end to end'
  note(`${binary.name}: ${label}, messages/s`, messages / seconds)
  if (withWebhook) note(`${binary.name}: ${label}, until the last post, messages/s`, messages / told)
  note(`${binary.name}: ${label}, CPU s per 1,000`, ((house.cpuSeconds() - cpuBefore) / messages) * 1000)
  note(`${binary.name}: ${label}, peak resident MB`, peakMb)
  await house.stop()
  sink.end()
  receiver?.process.end()
}

/** Mail from the world: SPF, DKIM (RSA-2048) and DMARC asked of the local DNS, posted to a webhook; then large ones. */
async function benchInbound(binary: Binary): Promise<void> {
  const receiver = await startReceiver()
  const { small, large, zone } = authorsMail()
  const house = await openHouse(binary, { sinkPort: 1, caFile: receiver.certificateFile, inbound: zone })
  const route = { type: 'webhook', config: { url: `https://hooks.example:${receiver.port}/` } }
  await create(house, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action: route })
  await deliver(house, 20, 500, small)
  await until(async () => (await receiver.process.ask()).posts === 500)

  const cpuBefore = house.cpuSeconds()
  const startedAt = performance.now()
  const { perSecond, p99Ms } = await deliver(house, 20, messages, small)
  await until(async () => (await receiver.process.ask()).posts === 500 + messages)
  const told = (performance.now() - startedAt) / 1000
  note(`${binary.name}: inbound, taken/s`, perSecond)
  note(`${binary.name}: inbound, p99 from MAIL to 250, ms`, p99Ms)
  note(`${binary.name}: inbound until the last post, messages/s`, messages / told)
  note(`${binary.name}: inbound, CPU s per 1,000`, ((house.cpuSeconds() - cpuBefore) / messages) * 1000)

  let peakMb = 0
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, house.residentMb())
  }, 20)
  await deliver(house, 20, 20, large)
  await until(async () => (await receiver.process.ask()).posts === 520 + messages)
  clearInterval(watch)
  note(`${binary.name}: 25 MB on 20 connections at once, peak resident MB`, peakMb)
  await house.stop()
  receiver.process.end()
}

/** A newsletter's 10 KB mail and one of 25 MB, signed, in files; and what DNS says of their author. */
function authorsMail() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sign = (mail: Uint8Array) => {
    const key = { domain: 'author.example', selector: 's1', algorithm: 'rsa-sha256' as const, privateKey }
    return Buffer.concat([signDkim(mail, [key], Date.now()), mail])
  }
  const head = (subject: string, type: string) =>
    `From: News <news@author.example>\r\nTo: inbox@bench.example\r\nSubject: ${subject}\r\nDate: ${new Date().toUTCString()}\r\n` +
    `Message-ID: <1@author.example>\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n`
  const small = join(scratch, 'small.eml')
  const large = join(scratch, 'large.eml')
  const page = html(10_240).replaceAll('\n', '\r\n')
  writeFileSync(small, sign(Buffer.from(`${head('A receipt', 'text/html; charset=utf-8')}\r\n${page}\r\n`)))
  const film = randomBytes(18 * 2 ** 20) // as films are: nothing that compression makes smaller
  const base64 = film.toString('base64').replace(/.{76}/g, '$&\r\n')
  const attached = `${head('A film', 'application/octet-stream')}Content-Transfer-Encoding: base64\r\n\r\n${base64}\r\n`
  writeFileSync(large, sign(Buffer.from(attached)))
  const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const zone = [
    { name: 'author.example', type: 'TXT' as const, data: 'v=spf1 ip4:127.0.0.1 -all' },
    {
      name: 's1._domainkey.author.example',
      type: 'TXT' as const,
      data: [`v=DKIM1; k=rsa; p=${p.slice(0, 200)}`, p.slice(200)],
    },
    { name: '_dmarc.author.example', type: 'TXT' as const, data: 'v=DMARC1; p=reject' },
  ]
  return { small, large, zone }
}

async function deliver(house: House, connections: number, count: number, file: string): Promise<LoadResult> {
  const script = join(ROOT, 'scripts/bench/inbound.ts')
  const printed = await run('bun', [
    script,
    house.smtpInbound,
    String(connections),
    String(count),
    file,
    'inbox@bench.example',
  ])
  const result = JSON.parse(printed) as LoadResult
  if (result.failed > 0) throw new Error(`${result.failed} of ${count} mails were not taken`)
  return result
}

interface Binary {
  name: string
  file: string
}
type House = Awaited<ReturnType<typeof openHouse>>

/** A configured server on its own data directory, with the binary under test. */
async function openHouse(
  binary: Binary,
  settings: { sinkPort: number; caFile?: string; inbound?: Parameters<typeof startZone>[0] },
) {
  const folder = mkdtempSync(join(scratch, 'house-'))
  const zone = await startZone([
    { name: 'sink.example', type: 'MX', data: { preference: 10, exchange: 'mx.sink.example' } },
    { name: 'mx.sink.example', type: 'A', data: '127.0.0.1' },
    { name: 'hooks.example', type: 'A', data: '127.0.0.1' },
    ...(settings.inbound ?? []),
  ])
  const config = join(folder, 'config.toml')
  writeFileSync(
    config,
    [
      'hostname = "mail.bench.example"',
      `data_dir = "${join(folder, 'data')}"`,
      '[http]',
      'listen = "127.0.0.1:0"',
      '[smtp.inbound]',
      `listen = "${settings.inbound === undefined ? 'off' : '127.0.0.1:0'}"`,
      '[delivery]',
      `port = ${settings.sinkPort}`,
      'allow_private_destinations = true',
      '[dns]',
      `servers = ["${zone.address}"]`,
      '[webhooks]',
      'allowed_private_networks = ["127.0.0.0/8"]',
      ...(settings.caFile === undefined ? [] : [`ca_file = "${settings.caFile}"`]),
      '[sending]',
      'require_verified_domain = false',
      '',
    ].join('\n'),
  )
  const made = await run(binary.file, ['init', '--config', config, '--domain', 'bench.example', '--json'])
  const key = JSON.parse(made).api_key as string
  const startedAt = performance.now()
  const child = await start(binary.file, ['serve', '--config', config])
  const readyMs = performance.now() - startedAt
  const { pid } = child
  return {
    key,
    http: child.first.http as unknown as string,
    smtpInbound: child.first.smtp_inbound as unknown as string,
    readyMs,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    stop: async () => {
      await child.terminate()
      await zone.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startReceiver() {
  const { keyPem, certificatePem } = await selfSignedCertificate({ names: ['hooks.example'], now: Date.now() })
  const certificateFile = join(scratch, 'hooks.pem')
  const keyFile = join(scratch, 'hooks.key')
  writeFileSync(certificateFile, certificatePem)
  writeFileSync(keyFile, keyPem)
  const process = await start('bun', [join(ROOT, 'scripts/bench/receiver.ts'), certificateFile, keyFile])
  return { process, certificateFile, port: process.first.port! }
}

async function subscribe(house: House, port: number): Promise<void> {
  const events = ['message.delivered', 'message.bounced', 'message.deferred']
  await create(house, '/v1/webhooks', { url: `https://hooks.example:${port}/`, events })
}

async function create(house: House, path: string, body: object): Promise<void> {
  const response = await fetch(`http://${house.http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
}

interface LoadResult {
  perSecond: number
  p99Ms: number
  failed: number
}

async function load(
  house: Pick<House, 'http' | 'key'>,
  connections: number,
  count: number,
  file: string,
  extra = '',
): Promise<LoadResult> {
  const script = join(ROOT, 'scripts/bench/load.ts')
  const printed = await run('bun', [script, house.http, house.key, String(connections), String(count), file, extra])
  const result = JSON.parse(printed) as LoadResult
  if (result.failed > 0) throw new Error(`${result.failed} of ${count} requests were not accepted`)
  return result
}

/** A child process that prints JSON lines. */
async function start(file: string, args: string[]) {
  const child = spawn(file === 'bun' ? process.execPath : file, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const line = await lines.next()
    if (line.done) throw new Error(`${file} ${args[0]} ended`)
    return JSON.parse(line.value) as Record<string, number>
  }
  const first = await next()
  const exited = new Promise((resolve) => child.on('exit', resolve))
  return {
    pid: child.pid!,
    first,
    ask: () => {
      child.stdin.write('\n')
      return next()
    },
    end: () => child.stdin.end(),
    terminate: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function run(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file === 'bun' ? process.execPath : file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => {
      printed += chunk
    })
    child.on('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`${file} ${args[0]}: exit ${code}`))))
  })
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + 120_000
  while (!(await done())) {
    if (performance.now() > endsAt) throw new Error('waited two minutes for the last mail')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function envelope() {
  return { from: 'Bench <bench@bench.example>', to: 'ann@sink.example', subject: 'A receipt', metadata: { order: 7 } }
}

/** A body of about `size` bytes that reads, and compresses, like a real mail rather than like one repeated letter. */
function html(size: number): string {
  let text = '<!doctype html><html><body><h1>Thank you</h1>'
  for (let row = 0; text.length < size; row++) {
    const price = ((row * 7919) % 100_003) / 100
    text += `<tr><td style="padding:4px">Item ${row * 31} of your order</td><td align="right">$${price}</td></tr>\n`
  }
  return `${text}</body></html>`
}

function note(figure: string, value: number): void {
  const known = figures.get(figure) ?? []
  figures.set(figure, [...known, value])
  console.error(`${figure}: ${format(value)}`)
}

function report(): void {
  const memory = Math.round(totalmem() / 2 ** 30)
  console.log(`${cpus().length} × ${cpus()[0]!.model.trim()}, ${memory} GiB; ${rounds} rounds; median (min–max)`)
  for (const [figure, values] of figures) {
    const sorted = values.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)]!
    console.log(`${figure.padEnd(66)} ${format(median).padStart(9)}  (${format(sorted[0]!)}–${format(sorted.at(-1)!)})`)
  }
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
