import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/patience.ts'
import { sendUntilAcknowledged } from '../http-client.ts'
import { exitOf, makeTestInstallation } from '../setup.ts'
import { createSmtpClient, type Ledger } from '../smtp-client.ts'
import { look } from './ask.ts'
import { type Fault, unless } from './fault.ts'
import { cpuSeconds, residentMb } from './process.ts'

const SENDS_A_SECOND = 20
const INBOUND_A_SECOND = 2
const READS = ['/v1/messages?limit=100', '/v1/events?limit=100', '/v1/stats', '/v1/messages?q=token', '/metrics']
const HTML = `<p>${'Your order is on its way. '.repeat(400)}</p>`
/** Growth from the second quarter to the last. SQLite's page cache and statistics fill in the first. */
const MOST_GROWTH = 1.15
const MOST_DESCRIPTORS_MORE = 20

/** Days in hours: mail out and in, webhooks and lists, minute by minute; nothing may grow. A round is a minute. */
export const soak: Fault = {
  name: 'soak',
  needs: [],
  rounds: { long: 120, short: 0 },
  run: async ({ rounds: minutes, program, note }) => {
    const smtpPort = await freePort()
    const installation = await makeTestInstallation({
      program,
      smtp: `[smtp.inbound]\nlisten = "127.0.0.1:${smtpPort}"`,
    })
    const acknowledged = new Map<string, string>()
    const ledger: Ledger = {
      acknowledged: new Map(),
      unanswered: new Map(),
      refusals: [],
      onAcknowledged: () => {},
    }
    const envelope = (token: string) => ({ from: `${token}@client.example`, to: 'desk@example.com' })
    const smtp = createSmtpClient({ port: smtpPort, ledger, envelope })
    try {
      const server = await installation.serve()
      const pid = server.pid!
      const events = ['message.delivered', 'message.bounced', 'message.deferred']
      const route = { name: 'all', match: { type: 'address', value: 'desk@example.com' }, action: { type: 'store' } }
      for (const [path, body] of [
        ['/v1/webhooks', { url: installation.receiver.url, events }],
        ['/v1/inbound-routes', route],
      ] as const) {
        const { status } = await installation.api('POST', path, body)
        if (status !== 201) throw new Error(`${path}: ${status}`)
      }

      const samples: Sample[] = []
      let posts = 0
      const beganAt = performance.now()
      const endsAt = beganAt + minutes * 60_000
      for (let second = 0; performance.now() < endsAt; second++) {
        const batch = Array.from({ length: SENDS_A_SECOND }, (_, i) =>
          sendUntilAcknowledged(installation, `t${second}-${i}`, acknowledged, { text: HTML }),
        )
        for (let i = 0; i < INBOUND_A_SECOND; i++) await smtp.deliver(`in${second}-${i}`, mailFrom(second))
        await Promise.all([...batch, look(installation, READS[second % READS.length]!)])
        if (second % 30 === 0) {
          // Its domain does not exist: a bounce and a suppression.
          const lost = { from: 'us@example.com', to: `x${second}@gone.example`, subject: 'lost', text: 'lost' }
          await installation.api('POST', '/v1/send', lost)
        }
        posts += installation.receiver.requests.splice(0).length
        const nextAt = beganAt + (second + 1) * 1_000
        await Bun.sleep(Math.max(0, nextAt - performance.now()))
        if (nextAt - beganAt >= (samples.length + 1) * 60_000) samples.push(sampleOf(pid, installation.dataDir))
      }
      await until('the last mail', () => [...acknowledged.keys()].every((token) => installation.sink.mails.has(token)))
      for (const line of tableOf(samples)) note(line)
      server.kill('SIGTERM')
      const code = await exitOf(server)

      const lost = [...acknowledged.keys()].filter((token) => !installation.sink.mails.has(token)).length
      const twice = [...installation.sink.mails.values()].filter((copies) => copies.length > 1).length
      const settled = samples.slice(Math.floor(samples.length / 4), Math.ceil(samples.length / 2))
      const last = samples.slice(Math.floor((samples.length * 3) / 4))
      const grown = median(last, 'mb') / median(settled, 'mb')
      const more = median(last, 'descriptors') - median(settled, 'descriptors')
      return {
        figures:
          `${minutes} min: ${acknowledged.size} sent, ${ledger.acknowledged.size} received, ${posts} posts; ` +
          `resident ${median(settled, 'mb').toFixed(0)} → ${median(last, 'mb').toFixed(0)} MB, ` +
          `descriptors ${median(settled, 'descriptors')} → ${median(last, 'descriptors')}, ${lost} lost, ${twice} twice`,
        broken: [
          ...unless(lost === 0 && twice === 0, 'none lost, none twice'),
          ...unless(!(grown > MOST_GROWTH), `memory is constant, not ${grown.toFixed(2)} times as large`),
          ...unless(!(more > MOST_DESCRIPTORS_MORE), `descriptors are constant, not ${more} more`),
          ...unless(code === 0, 'exit code 0'),
        ],
      }
    } finally {
      smtp.close()
      await installation.close()
    }
  },
}

interface Sample {
  mb: number
  descriptors: number
  cpuSeconds: number
  logMb: number
}

function sampleOf(pid: number, dataDir: string): Sample {
  return {
    mb: residentMb(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuSeconds: cpuSeconds(pid),
    logMb: statSync(join(dataDir, 'postrider.db-wal')).size / 1e6,
  }
}

function median(samples: readonly Sample[], figure: keyof Sample): number {
  return samples.map((sample) => sample[figure]).sort((a, b) => a - b)[samples.length >> 1] ?? Number.NaN
}

/** A line for each tenth of the time. */
function tableOf(samples: readonly Sample[]): string[] {
  const step = Math.max(1, Math.floor(samples.length / 10))
  return samples.flatMap(({ mb, descriptors, cpuSeconds, logMb }, minute) =>
    (minute + 1) % step === 0
      ? [
          `minute ${minute + 1}: ${mb.toFixed(0)} MB, ${descriptors} descriptors, ${cpuSeconds.toFixed(0)} s CPU, log ${logMb.toFixed(1)} MB`,
        ]
      : [],
  )
}

const mailFrom = (second: number) =>
  `From: Bob <bob@client.example>\r\nTo: desk@example.com\r\nSubject: ${second}\r\n\r\n${'A line of text.\r\n'.repeat(100)}`
