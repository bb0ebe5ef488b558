/** The way of a mail: `scripts/bun scripts/trace-mail.ts` starts the server from source, in which every function reports its
 *  calls (trace-mail/instrument.ts). It sends one message through the API to a local mail server until the webhook of its
 *  delivery is posted, receives one by SMTP until its post, and prints the files and functions of each part, in the order of
 *  their first call.
 *
 *  A pair of files counts as one return if a function of the first calls one of the second. What runs by a timer meanwhile
 *  counts too; the number of files that also run while nothing is sent stands beside it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { authorsMail } from './bench/inbound.ts'
import { deliver, startReceiver, startSink, subscribe } from './bench/peers.ts'
import { sleep, until } from './bench/process.ts'
import { create, openServer } from './bench/server.ts'
import { instrumentSource, type TracedFunction } from './trace-mail/instrument.ts'

interface Period {
  what: string
  from: number
  to: number
}

const IDLE_MS = 3_000
const folder = mkdtempSync(join(tmpdir(), 'trace-mail-'))
try {
  const functions = instrumentSource(dirname(import.meta.dir), folder)
  const [idle, ...ways] = await run()
  const background = filesOf(read(functions, idle!))
  for (const way of ways) print(way, read(functions, way), background)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Sends and receives → an idle time, then the times of the ways. */
async function run(): Promise<Period[]> {
  const program = join(folder, 'postrider')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${folder}/src/main.ts" "$@"\n`, { mode: 0o755 })
  const [receiver, sink] = await Promise.all([startReceiver(folder), startSink()])
  const { small, zone } = authorsMail(folder)
  const settings = { scratch: folder, sinkPort: sink.port, caFile: receiver.caFile, zone, isOpen: true }
  const server = await openServer(program, settings)
  await subscribe(server, receiver.url)
  const action = { type: 'webhook', config: { url: receiver.url } }
  await create(server, '/v1/inbound-routes', { name: 'all', match: { type: 'catch_all' }, action })
  await sleep(IDLE_MS)
  const idle = { what: 'idle', from: now() - IDLE_MS, to: now() }
  const posted = async (count: number) => until(async () => (await receiver.posts()) >= count)

  const sentAt = now()
  const accepted = await fetch(`http://${server.http}/v1/messages/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'us@bench.example', to: 'ann@sink.example', subject: 'Hello', html: '<p>Hello</p>' }),
  })
  const acceptedAt = now()
  if (accepted.status !== 202) throw new Error(await accepted.text())
  await posted(1)
  const deliveredAt = now()
  await sleep(IDLE_MS)
  const before = await receiver.posts()
  const receivedAt = now()
  await deliver(server, 1, 1, small)
  await posted(before + 1)
  const ends = { receivedAt, to: now() }
  await sleep(200) // until each thread has written its calls
  await server.stop()
  receiver.end()
  sink.end()
  return [
    idle,
    { what: 'POST /v1/messages/send until 202', from: sentAt, to: acceptedAt },
    { what: 'POST /v1/messages/send until the webhook of its delivery', from: sentAt, to: deliveredAt },
    { what: 'DATA until the post of the inbound mail', from: ends.receivedAt, to: ends.to },
  ]
}

interface Call {
  called: TracedFunction
  caller: TracedFunction | undefined
}

/** The calls of a period, in their order. */
function read(functions: readonly TracedFunction[], { from, to }: Period): Call[] {
  const lines = readdirSync(folder)
    .filter((name) => name.startsWith('calls-'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
  return lines
    .map((line) => line.split(' ').map(Number) as [number, number, number])
    .filter(([at]) => at >= from && at <= to)
    .sort(([a], [b]) => a - b)
    .map(([, called, caller]) => ({ called: functions[called]!, caller: functions[caller] }))
}

function filesOf(calls: readonly Call[]): Set<string> {
  return new Set(calls.map(({ called }) => called.file))
}

function print({ what }: Period, calls: readonly Call[], background: ReadonlySet<string>): void {
  const byFile = Map.groupBy(new Set(calls.map(({ called }) => called)), ({ file }) => file)
  const returns = new Set<string>()
  for (const { called, caller } of calls) {
    if (caller !== undefined && caller.file !== called.file) returns.add(`${caller.file} ${called.file}`)
  }
  const count = [...byFile.values()].reduce((sum, each) => sum + each.length, 0)
  const idle = [...byFile.keys()].filter((file) => background.has(file)).length
  console.log(`\n${what}: ${byFile.size} files (${idle} also idle), ${count} functions, ${returns.size} returns\n`)
  for (const [file, each] of byFile) console.log(`  ${file}: ${each.map(({ name }) => name).join(', ')}`)
}

function now(): number {
  return performance.timeOrigin + performance.now()
}
