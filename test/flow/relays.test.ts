import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigValues } from '../../src/config/load.ts'
import { systemClock } from '../../src/os/clock.ts'
import { createLog } from '../../src/os/log.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/patience.ts'
import { POSTFIX_TOOLS, type Postfix, startPostfix } from '../support/postfix.ts'
import { describeWith } from '../support/real-tools.ts'
import { type Move, type RawMx, type RemoteMx, startRawMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { dkimResults } from '../support/verify.ts'

/** Mail through a real Postfix, with authentication and TLS. */

const BLOCKED = '554 5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org'

describeWith(POSTFIX_TOOLS, 'a real Postfix as relay', () => {
  let folder: string
  /** Where Postfix delivers. */
  let sink: RemoteMx
  let postfix: Postfix
  let inboundPort: number
  let remote: RawMx
  let server: TestServer
  let logged: string
  let refused: (recipient: string) => string | null

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'postrider-relays-'))
    sink = await startRemoteMx({ script: { rcpt: (recipient) => refused(recipient) } })
    inboundPort = await freePort()
    postfix = await startPostfix({ next: sink.port, returns: inboundPort, returnHost: 'bounces.sender.example' })
    for (const [name, text] of [
      ['password', `${postfix.login.password}\n`],
      ['wrong', 'wr0ng\n'],
    ] as const) {
      writeFileSync(join(folder, name), text)
      chmodSync(join(folder, name), 0o600)
    }
  })
  afterAll(async () => {
    await postfix.stop()
    await sink.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    await server.close()
    await remote.stop()
  })

  const relayAt = (port: number, change: Record<string, unknown> = {}) => ({
    name: 'provider',
    host: '127.0.0.1',
    port,
    username: postfix.login.user,
    password_file: join(folder, 'password'),
    certificates: [postfix.fingerprint],
    price_per_thousand: 0.1,
    ...change,
  })

  async function open(
    rules: ConfigValues['relay_rules'] = [{ use: 'provider' }],
    {
      relay = relayAt(postfix.port),
      direct = () => null,
    }: { relay?: Json; direct?: (cue: string) => Move | null } = {},
  ) {
    logged = ''
    refused = () => null
    sink.mails.length = 0
    const write = (line: string) => {
      logged += line
    }
    const log = createLog({ clock: systemClock, level: 'debug', format: 'json', write })
    remote = await startRawMx({ script: direct })
    server = await startTestServer({
      remote,
      log,
      config: {
        relays: [relay],
        relay_rules: rules,
        smtp: { inbound: { listen: `127.0.0.1:${inboundPort}` } },
      } as ConfigValues,
    })
  }
  const send = async (change: Record<string, unknown> = {}) => (await server.send(change)).body.id as string
  const attemptsOf = async (id: string): Promise<Json[]> =>
    (await server.read(`/v1/messages/${id}/attempts`)).data.reverse()
  const explained = async (id: string) => (await server.read(`/v1/messages/${id}/explain`)).recipients[0].explanation
  const copiesOf = (to: string) => sink.mails.filter(({ rcptTo }) => rcptTo.includes(to))
  const arrived = (to: string) => until(`a copy for ${to}`, () => copiesOf(to).length > 0)

  test('delivers by rule, with our return path and signature; attempts, explain and counts show it', async () => {
    await open([{ destination: 'one.remote.example', use: 'provider' }])
    const id = await send()
    expect((await server.ended(id)).status).toBe('delivered')
    await arrived('ann@one.remote.example')
    const [mail] = copiesOf('ann@one.remote.example')
    expect(mail!.mailFrom).toMatch(/^\S+@bounces\.sender\.example$/)
    expect(await dkimResults(mail!.raw, server.zone)).toContain('rsa-sha256 sender.example pass')
    const [attempt] = await attemptsOf(id)
    expect(attempt).toMatchObject({
      outcome: 'delivered',
      mx_host: '127.0.0.1',
      tls_version: 'TLSv1.3',
      tls_verified: true,
      relay: { name: 'provider', rule: 1, because: 'rule' },
    })
    const said = await explained(id)
    expect(said[0]).toStartWith('The relay provider (127.0.0.1) accepted the message on the first attempt')
    expect(said).toContain('Attempt 1 went through the relay provider: relay rule 1 says so.')
    const { explanation } = await server.read('/v1/explain?to=bob@one.remote.example')
    expect(explanation[0]).toBe('Mail goes through the relay provider (127.0.0.1): relay rule 1 says so.')
    expect(explanation.join(' ')).not.toContain('opportunistic TLS')

    const direct = await send({ to: 'ann@two.remote.example' })
    await server.ended(direct)
    expect((await attemptsOf(direct))[0].relay).toBeNull()
    expect(remote.mails).toHaveLength(1)

    await server.clock.advance(61_000)
    await until('the counts', async () => (await server.store().relays.counts('2026-11')).length > 0)
    expect(await server.store().relays.counts('2026-11')).toEqual([
      { relay: 'provider', month: '2026-11', sent: 1, failed: 0, lastError: null },
    ])
    const { password } = postfix.login
    const shown = `${logged}${JSON.stringify([attempt, await server.read(`/v1/messages/${id}`)])}`
    for (const secret of [password, Buffer.from(`\0${postfix.login.user}\0${password}`).toString('base64')]) {
      expect(shown).not.toContain(secret)
    }
  })

  test('matches the sending domain, the stream and the organization, and the first rule wins', async () => {
    await open([
      { domain: 'other.example', use: 'provider' },
      { stream: 'bulk', use: 'provider' },
      { organization: 'org_unknown0000', use: 'provider' },
      { destination: 'three.remote.example', use: 'direct' },
      { domain: 'sender.example', destination: 'hosts.example', use: 'provider' },
    ])
    const routes: Record<string, number | null> = {}
    for (const [name, change] of [
      ['plain', { to: 'a@gone.test' }],
      ['bulk', { to: 'b@one.remote.example', stream: 'bulk' }],
      ['direct', { to: 'c@three.remote.example' }],
      ['site', { to: 'd@one.remote.example' }],
    ] as const) {
      const id = await send(change)
      if (name === 'plain') await server.ended(id)
      else expect((await server.ended(id)).status).toBe('delivered')
      routes[name] = (await attemptsOf(id))[0].relay?.rule ?? null
    }
    expect(routes).toEqual({ plain: null, bulk: 2, direct: null, site: 5 })
  })

  test('that refuses the password defers with a clear cause', async () => {
    await open(undefined, { relay: relayAt(postfix.port, { password_file: join(folder, 'wrong') }) })
    const id = await send()
    await server.tried(id, 1)
    const [attempt] = await attemptsOf(id)
    expect(attempt).toMatchObject({ outcome: 'deferred', cause: { class: 'login' }, relay: { name: 'provider' } })
    expect((await server.read(`/v1/messages/${id}`)).recipients[0].smtp_response).toContain('535 5.7.8')
    expect((await explained(id)).join(' ')).toContain('rejects the user or password')
    expect(`${logged}${JSON.stringify(attempt)}`).not.toContain('wr0ng')
    expect(copiesOf('ann@one.remote.example')).toEqual([])
  })

  test('that gets a new password is used without a restart: after a refused login at once, or after SIGHUP', async () => {
    const file = join(folder, 'renewed')
    const write = (password: string) => writeFileSync(file, `${password}\n`, { mode: 0o600 })
    write(postfix.login.password)
    await open(undefined, { relay: relayAt(postfix.port, { password_file: file }) })
    try {
      postfix.setPassword('second')
      write('second')
      const id = await send()
      expect((await server.ended(id)).status).toBe('delivered')
      const [refusal, accepted] = await attemptsOf(id)
      expect(refusal).toMatchObject({ outcome: 'deferred', cause: { class: 'login' } })
      expect(refusal.transcript).toContain('the password has changed; the relay is tried at once')
      expect(accepted.outcome).toBe('delivered')
      const { site } = await server.read('/v1/explain?to=bob@one.remote.example')
      expect(site).toMatchObject({ name: 'relay:provider', lowered_at: null })
      await arrived('ann@one.remote.example')

      await server.stop()
      await server.reopen()
      postfix.setPassword('third')
      for (const unusable of ['', 'third']) {
        write(unusable)
        await server.running().reloadFiles()
      }
      expect(logged).toContain('password of a relay not read, keeping the previous one')
      const next = await send({ to: 'bob@one.remote.example' })
      await server.ended(next)
      expect((await attemptsOf(next)).map(({ outcome }) => outcome)).toEqual(['delivered'])
      for (const secret of ['second', 'third']) expect(logged).not.toContain(secret)
    } finally {
      postfix.setPassword(postfix.login.password)
    }
  })

  // threat: smarthost-password
  test('that offers no TLS, or another certificate, gets neither password nor mail', async () => {
    for (const relay of [
      relayAt(postfix.plainPort),
      relayAt(postfix.plainPort, { certificates: [] }),
      relayAt(postfix.port, { certificates: ['00'.repeat(32)] }),
    ]) {
      await open(undefined, { relay })
      const id = await send()
      await server.tried(id, 1)
      const [attempt] = await attemptsOf(id)
      expect(attempt).toMatchObject({ outcome: 'deferred', cause: { class: 'tls' } })
      expect(attempt.transcript).not.toContain('AUTH PLAIN ***')
      expect(attempt.transcript).not.toContain('MAIL FROM')
      if (relay !== undefined) await server.close()
      await remote.stop()
    }
    await open()
  })

  test('bounces an unknown recipient later: its DSN comes back and becomes message.bounced', async () => {
    await open()
    refused = (recipient) => (recipient === 'nobody@one.remote.example' ? '550 5.1.1 no such user' : null)
    const id = await send({ to: 'nobody@one.remote.example' })
    await until('the bounce', async () => (await server.read(`/v1/messages/${id}`)).status === 'bounced')
    const { recipients } = await server.read(`/v1/messages/${id}`)
    expect(recipients[0]).toMatchObject({ bounce_type: 'hard', bounce_code: '5.1.1' })
    expect((await server.eventsOf(id)).map(({ type }) => type)).toEqual(['message.delivered', 'message.bounced'])
    expect((await explained(id))[1]).toStartWith('A report from')
  })

  test('whose connection is cut in mid-transfer gets the mail once, at the next attempt', async () => {
    const proxy = await startProxy(postfix.port)
    await open(undefined, { relay: relayAt(proxy.port) })
    proxy.cutAfter(300_000)
    const id = await send({ text: 'x'.repeat(76).concat('\n').repeat(200_000) })
    await server.tried(id, 1)
    expect((await attemptsOf(id))[0]).toMatchObject({ outcome: 'deferred', cause: { class: 'network' } })
    proxy.cutAfter(Number.POSITIVE_INFINITY)
    await server.toNextAttempt(id)
    expect((await server.ended(id)).status).toBe('delivered')
    await arrived('ann@one.remote.example')
    expect(copiesOf('ann@one.remote.example')).toHaveLength(1)
    await proxy.stop()
  })

  test('takes over at once when the destination blocks our address, and delivers exactly one copy', async () => {
    await open([{ fail_over: 'provider' }], { direct: (cue) => (cue === 'RCPT' ? BLOCKED : null) })
    const id = await send()
    expect((await server.ended(id)).status).toBe('delivered')
    await arrived('ann@one.remote.example')
    const attempts = await attemptsOf(id)
    expect(attempts.map(({ outcome, relay }) => [outcome, relay])).toEqual([
      ['deferred', null],
      ['delivered', { name: 'provider', rule: 1, because: 'address_blocked' }],
    ])
    expect(attempts[0].transcript).toContain('the relay provider is tried at once')
    expect([copiesOf('ann@one.remote.example').length, remote.mails.filter(({ length }) => length > 0).length]).toEqual(
      [1, 0],
    )
    expect((await explained(id))[0]).toContain('Attempt 2 followed through the relay provider.')

    // The block is known now: the next message does not try it.
    const next = await send({ to: 'bob@one.remote.example' })
    await server.ended(next)
    expect((await attemptsOf(next)).map(({ relay }) => relay?.because)).toEqual(['address_blocked'])
    const { explanation } = await server.read('/v1/explain?to=bob@one.remote.example')
    expect(explanation[0]).toContain('because the destination blocks the address of this server')
    expect(explanation.join(' ')).toContain('This relay is currently limited to 5 of at most')
    expect(explanation.join(' ')).not.toContain('Mail is sent from')
  })
})

/** Passes connections on to the port until it has passed so many bytes of one from the client. */
async function startProxy(to: number) {
  let limit = Number.POSITIVE_INFINITY
  const sockets = new Set<Socket>()
  const proxy: Server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    let passed = 0
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (bytes) => {
      passed += bytes.length
      if (passed > limit) end()
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => client.write(bytes))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as { port: number }).port,
    cutAfter: (bytes: number) => {
      limit = bytes
    },
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}
