/** Damaged SMTP dialogs over sockets, against the listeners with the real handlers: pipelined, cut anywhere, in
 *  cleartext and under TLS. After each, the connection accepts a valid mail or has announced its end. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createLog } from '../../src/os/log.ts'
import { createSmtpListener, type SmtpListener } from '../../src/receiving/smtp-server/listener.ts'
import { LOGIN } from '../../src/receiving/smtp-server/login.ts'
import type { SmtpHandler } from '../../src/receiving/smtp-server/session.ts'
import { LIMITS } from '../../src/receiving/smtp-server/settings.ts'
import { createInboundSetup, LOOP_TAG } from '../inbound/setup.ts'
import { CERTIFICATE } from '../smtp-server/setup.ts'
import { openRelay } from '../smtp-submission/setup.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { runs } from './runs.ts'
import { cutAt, type Dialog, dialogs } from './smtp-dialog.ts'
import { Speaker } from './smtp-speaker.ts'

/** Concurrent connections: each new one waits for its greeting. */
const LANES = 48
const stops: (() => Promise<void>)[] = []
const bugs: string[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
})

interface FuzzedListener {
  port: number
  taken: Map<string, { raw: string; recipients: number }>
  of: fc.Arbitrary<Dialog>
  login: string | null
  recipient: string
  mail: string
}

const MAIL = 'From: Ann <ann@sender.example>\r\nSubject: x\r\n\r\nHello\r\n..dot\r\n'
/** Sent repeatedly, it is stored once. */
const OWN_MAIL = `X-Service-Idempotency-Key: fuzz\r\nFrom: shop@example.com\r\nTo: ann@remote.example\r\nSubject: x\r\n\r\nHello\r\n`

let inbound: FuzzedListener
let submission: FuzzedListener

beforeAll(async () => {
  const setup = await createInboundSetup()
  await setup.addRoute({ type: 'address', value: 'info@ours.test' })
  const forget = setInterval(() => {
    for (const list of [setup.reports, setup.jobs, setup.reported]) list.length = 0
  }, 100)
  const bounce = `${setup.keyed('dlv_01m7ykx6js1zy8zpzy8z8cwhzy')}@bounces.ours.test`
  const recipients = [
    bounce,
    bounce,
    bounce,
    bounce,
    'complaints@bounces.ours.test',
    'info@ours.test',
    'none@ours.test',
    'a@b.example',
  ]
  inbound = {
    ...(await openHandler(setup.handler as SmtpHandler<unknown>)),
    of: dialogs({ recipients, logins: [], mails: [MAIL, `X-Loop: ${LOOP_TAG}\r\n${MAIL}`] }),
    login: null,
    recipient: bounce,
    mail: MAIL,
  }

  const relay = await openRelay()
  const login = (key: string) => `AUTH PLAIN ${Buffer.from(`\0shop\0${key}`).toString('base64')}`
  const words = ['shop', relay.keys.live].map((word) => Buffer.from(word).toString('base64'))
  submission = {
    ...(await openHandler(relay.handler as SmtpHandler<unknown>)),
    of: dialogs({
      recipients: ['ann@remote.example', 'ann@remote.example', 'bob@remote.example', 'a b@remote.example'],
      logins: [
        login(relay.keys.live),
        login(relay.keys.test),
        `AUTH LOGIN\r\n${words.join('\r\n')}`,
        'EHLO again.example',
      ],
      mails: [OWN_MAIL, OWN_MAIL, MAIL],
    }),
    login: login(relay.keys.live),
    recipient: 'ann@remote.example',
    // With a separate key: the dialogs may use theirs for another mail at the same time.
    mail: OWN_MAIL.replace('Key: fuzz', 'Key: honest'),
  }
  stops.push(
    relay.close,
    () => setup.store.close(),
    async () => clearInterval(forget),
  )
})

/** A listener with its handler. Each accepted mail gets a number, which its 250 contains. */
async function openHandler(handler: SmtpHandler<unknown>): Promise<Pick<FuzzedListener, 'port' | 'taken'>> {
  const spoolDir = mkdtempSync(join(tmpdir(), 'postrider-fuzz-'))
  const clock = createFakeClock(Date.UTC(2026, 10, 21, 12))
  const taken: FuzzedListener['taken'] = new Map()
  let count = 0
  const counted: SmtpHandler<unknown> = {
    ...handler,
    onMail: async (mail) => {
      const raw = await mail.read()
      const text = await handler.onMail({ ...mail, read: async () => raw })
      taken.set(`#${++count}`, { raw: Buffer.from(raw).toString('latin1'), recipients: mail.recipients.length })
      return `${text} #${count}`
    },
  }
  const limits = { ...LIMITS, messageBytes: 1_000_000, connections: 1000, connectionsPerAddress: 1000 }
  // Wrong logins wait by the clock, which runs; nothing else may be delayed by it.
  const patience = { idleMs: 1e12, dataMs: 1e12 }
  const listener: SmtpListener = createSmtpListener(
    {
      hostname: 'mx.test.example',
      tls: 'starttls',
      certificate: CERTIFICATE,
      loginNeedsTls: true,
      spoolDir,
      limits: { ...limits, ...patience },
    },
    counted,
    {
      name: 'fuzz',
      clock,
      log: createLog({ clock, level: 'error', format: 'json', write: (line) => void bugs.push(line) }),
    },
  )
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 })
  const running = setInterval(() => void clock.advance(2 * LOGIN.resetMs), 5)
  stops.unshift(async () => {
    clearInterval(running)
    await listener.stop(0)
    rmSync(spoolDir, { recursive: true, force: true })
  })
  return { port, taken }
}

for (const name of ['inbound', 'submission'] as const) {
  test(`${name}: every dialog is answered in order, and nothing is accepted that was not sent`, async () => {
    const target = name === 'inbound' ? inbound : submission
    await Promise.all(Array.from({ length: LANES }, (_, lane) => tryLane(name, target, lane)))
  })
}

async function tryLane(name: string, target: FuzzedListener, lane: number): Promise<void> {
  let speaker: Speaker | null = null
  const run = fc.asyncProperty(target.of, async ({ text, cuts, isAnew }) => {
    if (isAnew) {
      speaker?.destroy()
      speaker = null
    }
    try {
      speaker ??= await Speaker.to(target.port, (reply: string, content: string, recipients: number) => {
        const number = /#\d+$/.exec(reply)?.[0] ?? 'no number'
        const mail = target.taken.get(number)
        target.taken.delete(number)
        if (mail?.raw !== content) return `${JSON.stringify(mail?.raw)} was taken for ${JSON.stringify(content)}`
        if (/(?:^|[^\r])\n|\r(?:[^\n]|$)|\0/.test(content))
          return `a bare line end or NUL was taken: ${JSON.stringify(content)}`
        return mail.recipients <= recipients ? null : `${mail.recipients} recipients in place of ${recipients}`
      })
      await speaker.say(...cutAt(text, cuts))
      if (speaker.isOpen) await speaker.endWhatBegan()
      if (speaker.isOpen) await speaker.handIn(target.login, target.recipient, target.mail)
      if (!speaker.isOpen) speaker = null
      expect(bugs.splice(0)).toEqual([])
    } catch (error) {
      speaker?.destroy()
      speaker = null
      throw error
    }
  })
  await fc.assert(run, runs<[Dialog]>({ target: 'dialogs', property: name }, 2_000, lane + 1, 1 / LANES))
  ;(speaker as Speaker | null)?.destroy()
}
