import { generateKeyPairSync } from 'node:crypto'
import { createSignRsa } from '../../src/outbound/system-rsa.ts'
import { bodies } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Bench, Binary, Part } from './part.ts'
import { load, startReceiver, startSink, subscribe } from './peers.ts'
import { peakMb, until } from './process.ts'
import { openServer } from './server.ts'

/** From the first request to the sink's last mail: two DKIM signatures, attempts and events recorded; then the same
 *  with a webhook for all events, to its last post. */
export const send: Part = {
  name: 'send',
  measure: async (bench, binary) => {
    await endToEnd(bench, binary, false)
    await endToEnd(bench, binary, true)
  },

  beside: async ({ note }) => note(null, RSA, signaturesPerSecond()),
}

/** The minimum cost of every mail: how fast one core signs on this machine. */
function signaturesPerSecond(): number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const sign = createSignRsa(() => performance.now())
  const input = Buffer.alloc(1_000, 'h')
  const startedAt = performance.now()
  let signatures = 0
  for (; performance.now() - startedAt < 2_000; signatures++) sign(input, privateKey)
  return (signatures / (performance.now() - startedAt)) * 1000
}

async function endToEnd({ scratch, messages, note }: Bench, binary: Binary, withWebhook: boolean): Promise<void> {
  const sink = await startSink()
  const receiver = withWebhook ? await startReceiver(scratch) : null
  const server = await openServer(binary.file, { scratch, sinkPort: sink.port, caFile: receiver?.caFile })
  if (receiver !== null) await subscribe(server, receiver.url)
  const mail = bodies.mail(scratch)
  await load(server, 20, WARM_UP, mail)
  await until(async () => (await sink.mails()) === WARM_UP)
  if (receiver !== null) await until(async () => (await receiver.posts()) === WARM_UP)

  const cpuBefore = server.cpuSeconds()
  const startedAt = performance.now()
  const accepted = load(server, 20, messages, mail)
  const peak = await peakMb(server.pid, () => until(async () => (await sink.mails()) === WARM_UP + messages))
  const sentMs = performance.now() - startedAt
  await accepted
  if (receiver !== null) await until(async () => (await receiver.posts()) === WARM_UP + messages)
  const toldMs = performance.now() - startedAt
  const cpu = ((server.cpuSeconds() - cpuBefore) / messages) * 1000

  const figures = withWebhook ? WITH_WEBHOOK : ALONE
  note(binary, figures.sent, (messages / sentMs) * 1000)
  if (withWebhook) note(binary, POSTED, (messages / toldMs) * 1000)
  note(binary, figures.cpu, cpu)
  note(binary, figures.peak, peak)
  await server.stop()
  sink.end()
  receiver?.end()
}

/** Until the runtime has compiled the hot code. */
const WARM_UP = 5_000
const ALONE: Record<'sent' | 'cpu' | 'peak', Figure> = {
  sent: { what: 'sent end to end per second, 10 KB HTML', goal: { atLeast: 1_700 } },
  cpu: { what: 'CPU seconds for 1,000 sent', goal: { atMost: 1.1 } },
  peak: { what: 'peak memory while sending', unit: 'MB' },
}
const WITH_WEBHOOK: Record<'sent' | 'cpu' | 'peak', Figure> = {
  sent: { what: 'sent per second with a webhook subscribed' },
  cpu: { what: 'CPU seconds for 1,000 sent with a webhook' },
  peak: { what: 'peak memory while sending with a webhook', unit: 'MB' },
}
const RSA: Figure = { what: 'RSA-2048 signatures per second on one core' }
const POSTED: Figure = { what: 'sent per second with a webhook, until the last post', goal: { atLeast: 1_400 } }
