import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server as TcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { ConfigValues } from '../../src/config/load.ts'
import { createCanaryWords } from '../../src/mail/canary-address.ts'
import type { Canary } from '../../src/model/canary.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Server } from '../../src/server/server.ts'
import { describeWithDovecot, startDovecot, type TestDovecot } from '../support/dovecot.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { postgresPrograms, startPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer, untilInTime } from '../support/server.ts'
import { addUser, cookieOf, decoded, MAIL_FROM, page } from '../support/user-mail.ts'

/** Canary mails through DNS, port 25 and the inbound listener of the server, and to a mailbox of Dovecot. */

let folder: string
let port: number
let remote: RemoteMx
let server: TestServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-canary-'))
  port = await freePort()
  // The same port at another address is the other provider.
  remote = await startRemoteMx({ host: '127.0.0.2', port })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
  rmSync(folder, { recursive: true })
})

const open = async (mailboxes: object[] = [], canary: object = {}, rest: ConfigValues = {}) => {
  server = await startTestServer({
    remote,
    config: {
      users: { mail_from: MAIL_FROM },
      health: { look_outside: false },
      smtp: { inbound: { listen: `127.0.0.1:${port}` } },
      canary: { every_minutes: 15, mailboxes, ...canary } as never,
      ...rest,
    },
  })
  server.zone.set(`mail.${DOMAIN}`, 'A', ['127.0.0.1'])
  server.zone.set('mailbox.remote.example', 'MX', [{ preference: 10, exchange: 'mx.mailbox.example' }])
  server.zone.set('mx.mailbox.example', 'A', ['127.0.0.2'])
}
const last = async (mailbox: string, store = server.store()) => (await store.canaries.latest(mailbox, 1))[0]
/** A canary to our own listener, from its sending on, which needs no more time to arrive. */
const untilOwn = async (holds: (canary: Canary) => boolean, { dueAfter = 0, store = server.store() } = {}) => {
  const sent = async () => ((await last('self', store))?.dueAt ?? 0) > dueAfter
  await untilInTime(server.clock, 'the canary to be sent', sent)
  let found: Canary
  await until('the canary to arrive', async () => {
    found = (await last('self', store))!
    return holds(found)
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(found)}`)
  })
  return found!
}
/** A canary to a mailbox elsewhere. Looks into it are 20 seconds or more apart, and time waits for a look that is under way. */
const untilSeed = async (holds: (canary: Canary) => boolean, running = server.running()) => {
  let found: Canary | undefined
  const sent = async () => running.store.canaries.latest('seed', 9)
  await until('the canary in the mailbox', async () => {
    found = (await sent()).find(holds)
    if (found !== undefined) return true
    if (await isLooking(running)) await Bun.sleep(25)
    else await server.clock.leap(10_000)
    return false
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await sent())}`)
  })
  return found!
}
const isLooking = async (running: Server) => {
  const metrics = await metricsOf(running)
  return ['under_way', 'waiting'].some((what) => !metrics.includes(`postrider_pool_${what}{pool="mailboxes"} 0\n`))
}
/** The connection to our own listener stays open for the next mail, and the listener waits for its end. */
const OWN_CONNECTION = 'with work that hangs'
/** So that mail counts as neither late nor missing, however long a look takes. */
const PATIENT = { late_after_minutes: 120, missing_after_minutes: 200, every_minutes: 240 }
const words = async () => createCanaryWords(await server.store().secret('canary', systemRandom.bytes(32)))

/** A transaction with the inbound listener, up to the reply to the mail or to the refused recipient. */
const smtp = (to: string) =>
  createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    .sendMail({ from: 'mallory@evil.example', to, subject: 'Hi', text: 'Hi' })
    .then(
      ({ response }) => response,
      (error: Error) => error.message,
    )

test('the server mails itself through its own MX record, and no tenant sees anything of it', async () => {
  await open()
  const canary = await untilOwn(({ result }) => result !== 'pending')
  expect(canary).toMatchObject({ result: 'inbox', detail: null })
  expect(canary.arrivedAt! - canary.sentAt).toBeLessThan(300_000)

  expect((await server.read('/v1/messages')).data).toEqual([])
  expect((await server.read('/v1/inbound-messages')).data).toEqual([])
  expect(server.receiver.requests).toEqual([])
  expect((await server.read('/v1/usage')).usage.messages).toBe(0)
  await server.send({ to: 'ann@one.remote.example' })
  expect((await server.read('/v1/usage')).usage.messages).toBe(1)

  await addUser(server, 'op@boss.example', { isOperator: true })
  const headers = { cookie: await cookieOf(server, 'op@boss.example') }
  const { body } = await page(server, 'GET', '/v1/canary', { headers })
  expect(body).toMatchObject({ every_minutes: 15, late_after_seconds: 300 })
  expect(body.data).toEqual([
    { mailbox: 'self', address: null, canaries: [expect.objectContaining({ result: 'inbox', detail: null })] },
  ])
  expect((await server.ask('GET', '/v1/canary')).status).toBe(403)
  const run = await page(server, 'POST', '/v1/canary/run', { headers })
  expect(run.body.data).toMatchObject([{ mailbox: 'self', result: 'pending' }])
  const second = await untilOwn(({ id, result }) => id !== canary.id && result !== 'pending')
  expect(second.result).toBe('inbox')

  // Due again after the interval, and not once more after a restart.
  await server.stop(OWN_CONNECTION)
  await server.reopen()
  await server.clock.leap(60_000)
  expect(await server.store().canaries.latest('self', 9)).toHaveLength(2)
  await server.clock.leap(15 * 60_000)
  await untilOwn(({ result }) => result === 'inbox', { dueAfter: second.dueAt })
  expect(await server.store().canaries.latest('self', 9)).toHaveLength(3)
})

// threat: canary-forged
test('nobody else can make a canary arrive', async () => {
  await open([seedAt('127.0.0.1', 1)])
  server.zone.set(`mail.${DOMAIN}`, 'A', ['127.0.0.3']) // nothing listens there
  await until('canaries', async () => {
    await server.clock.advance(5_000)
    return (await last('seed')) !== undefined
  })
  const host = server.store().snapshot.domainByName(DOMAIN)!.returnPathHost
  const [own, seed] = [(await last('self'))!, (await last('seed'))!]
  const { encode } = await words()
  const forged = encode(own.id).slice(0, -1) + (encode(own.id).endsWith('0') ? '1' : '0')
  expect(await smtp(`${forged}@${host}`)).toContain('550 5.1.1')
  expect(await smtp(`canary-${'0'.repeat(26)}-${'0'.repeat(12)}@${host}`)).toContain('550 5.1.1')
  expect(await smtp(`${encode(own.id)}@${DOMAIN}`)).toContain('550 5.1.1')
  // The word of a mail to another mailbox, which that provider knows.
  expect(await smtp(`${encode(seed.id)}@${host}`)).toContain('250')
  expect((await last('self'))!.arrivedAt).toBeNull()
  expect((await last('seed'))!.arrivedAt).toBeNull()
  // Not authenticated: whoever knows the word of our own can only make it bad.
  expect(await smtp(`${encode(own.id)}@${host}`)).toContain('250')
  expect(await last('self')).toMatchObject({ result: 'unauthenticated', detail: expect.stringContaining('dkim=none') })
})

const seedAt = (host: string, imapPort: number, change: object = {}) => {
  writeFileSync(join(folder, 'password'), 'let me in\n', { mode: 0o600 })
  return {
    name: 'seed',
    address: 'seed@mailbox.remote.example',
    host,
    port: imapPort,
    username: 'seed',
    password_file: join(folder, 'password'),
    ...change,
  }
}

describeWithDovecot('a mailbox elsewhere', () => {
  let dovecot: TestDovecot
  let dropping: TcpServer | undefined
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  beforeEach(() => dovecot.empty())
  afterEach(() => {
    dropping?.close()
    dropping = undefined
  })
  afterAll(() => dovecot.stop())
  const seed = (change: object = {}) =>
    seedAt('localhost', dovecot.tlsPort, { tls: 'implicit', ca_file: dovecot.caFile, ...change })
  /** The canary of the mailbox as its provider got it. */
  const received = async () => {
    await until('the mail', async () => {
      await server.clock.advance(1_000)
      return remote.mails.length > 0
    })
    return remote.mails.at(-1)!
  }
  /** The provider puts the mail into the inbox. */
  const deliver = async () => {
    const { raw } = await received()
    const transport = createTransport({
      host: '127.0.0.1',
      port: dovecot.lmtpPort,
      lmtp: true,
      ignoreTLS: true,
    } as object)
    await transport.sendMail({ envelope: { from: '', to: [dovecot.address] }, raw })
    transport.close()
  }

  for (const tls of ['implicit', 'starttls'])
    test(`mail in the inbox is found and deleted, ${tls}`, async () => {
      await open([seed({ tls, port: tls === 'implicit' ? dovecot.tlsPort : dovecot.port })], PATIENT)
      expect(decoded(await received())).toContain(`Subject: Canary ${(await words()).encode((await last('seed'))!.id)}`)
      await deliver()
      expect(dovecot.count()).toBe(1)
      expect(await untilSeed(({ arrivedAt }) => arrivedAt !== null)).toMatchObject({ result: 'inbox', detail: null })
      await until('the mail to be deleted', () => dovecot.count() === 0)
    })

  test('mail in Junk counts as spam, and is deleted', async () => {
    await open([seed()], PATIENT)
    dovecot.putIntoJunk((await received()).raw)
    expect(await untilSeed(({ arrivedAt }) => arrivedAt !== null)).toMatchObject({ result: 'spam' })
    await until('the mail to be deleted', () => dovecot.count('Junk') === 0)
  })

  test('mail that never arrives is missing, and late if it arrives after all', async () => {
    await open([seed()], { late_after_minutes: 1, missing_after_minutes: 2, every_minutes: 1440 })
    await received()
    expect(await untilSeed(({ result }) => result !== 'pending')).toMatchObject({ result: 'missing', detail: null })
    await deliver()
    const { body } = await runNow()
    expect(body.data.map(({ mailbox }: { mailbox: string }) => mailbox)).toEqual(['self', 'seed'])
    await untilSeed(({ result }) => result === 'late')
    await until('the mail to be deleted', () => dovecot.count() === 0)
  })

  test.skipIf(postgresPrograms() === null)(
    'a node that takes over sends nothing twice, and finds what the other one sent',
    async () => {
      const postgres = await startPostgres()
      try {
        const database = { url: await postgres.createDatabase('canary') }
        await open([seed()], PATIENT, { database, cluster: { name: 'one' } })
        const two = await server.addNode({
          smtp: { inbound: { listen: `127.0.0.3:${port}` } },
          cluster: { name: 'two' },
        })
        server.zone.set(`mail.${DOMAIN}`, 'A', ['127.0.0.1', '127.0.0.3'])
        await received()
        const first = await untilOwn(({ result }) => result === 'inbox')
        expect(await metricsOf(two.server)).not.toContain('postrider_canary_ok{')
        await server.stop(OWN_CONNECTION)
        await deliver()

        const { store } = two.server
        await until('the other node to lead', () => store.leases.leads())
        const found = await untilSeed(({ arrivedAt }) => arrivedAt !== null, two.server)
        expect(found).toMatchObject({ result: 'inbox', dueAt: first.dueAt })
        await until('the mail to be deleted', () => dovecot.count() === 0)
        expect(remote.mails).toHaveLength(1)
        for (const mailbox of ['self', 'seed']) expect(await store.canaries.latest(mailbox, 9)).toHaveLength(1)
        await until('the result in the metrics', async () =>
          (await metricsOf(two.server)).includes('postrider_canary_ok{mailbox="seed"} 1'),
        )

        const { every_minutes } = PATIENT
        await server.clock.leap(every_minutes * 60_000)
        const next = await untilOwn(({ result }) => result === 'inbox', { dueAfter: first.dueAt, store })
        expect(next.dueAt).toBe(first.dueAt + every_minutes * 60_000)
        await until('the next mail', () => remote.mails.length === 2)
        for (const mailbox of ['self', 'seed']) expect(await store.canaries.latest(mailbox, 9)).toHaveLength(2)
      } finally {
        await server.close()
        await postgres.stop()
        await open()
      }
    },
  )

  test('a wrong password is no missing mail', async () => {
    await open([seed()], { late_after_minutes: 1, missing_after_minutes: 2 })
    writeFileSync(join(folder, 'password'), 'wrong\n', { mode: 0o600 })
    expect(await untilSeed(({ result }) => result !== 'pending')).toMatchObject({
      result: 'unchecked',
      detail: expect.stringContaining('login failed'),
    })
  })

  test('a server that drops the connection is no missing mail', async () => {
    dropping = createServer((socket) => socket.on('error', () => {}).end('* OK hello\r\n'))
    const listening = dropping.listen(0, '127.0.0.1')
    await until('the listener', () => listening.listening)
    const at = (listening.address() as { port: number }).port
    await open([seedAt('127.0.0.1', at, { tls: 'none' })], { late_after_minutes: 1, missing_after_minutes: 2 })
    const { result, detail } = await untilSeed((canary) => canary.result !== 'pending')
    expect(result).toBe('unchecked')
    expect(detail).not.toBe('')
  })
})

const metricsOf = async ({ listening }: Server) => (await fetch(`http://${listening.http}/metrics`)).text()

const runNow = async () => {
  await addUser(server, 'op@boss.example', { isOperator: true })
  const headers = { cookie: await cookieOf(server, 'op@boss.example') }
  return page(server, 'POST', '/v1/canary/run', { headers })
}
